"""Failed builds; the samples of Gradle are written from its documentation."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

GRADLE = """\

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':compileJava'.
> Could not resolve all files for configuration ':compileClasspath'.
   > Could not find com.acme:tax:9.9.
     Searched in the following locations:
       - https://maven.example.com/maven2/com/acme/tax/9.9/tax-9.9.pom
     If the artifact you are trying to retrieve can be found in the repository, adapt it.
     Required by:
         project :

* Try:
> Run with --info option to get more log output.

BUILD FAILED in 1s
"""


def test_gradle_dependency():
    """Gradle lists causes from the outside in; where it searched says nothing."""
    found = facts(GRADLE)
    assert (found.type, found.cause) == ("BuildFailure", "Could not find com.acme:tax:9.9.")
    assert found.details == (
        "in task :compileJava",
        "Could not resolve all files for configuration ':compileClasspath'.",
    )


def test_gradle_script():
    """A broken build script is the place."""
    found = facts(
        "FAILURE: Build failed with an exception.\n\n* Where:\n"
        "Build file '/home/dev/shop/build.gradle' line: 12\n\n* What went wrong:\n"
        "A problem occurred evaluating root project 'shop'.\n"
        "> Could not find method implementaton() for arguments [junit:junit:4.13] on object of type "
        "DependencyHandler.\n\n"
        "* Try:\n> Run with --stacktrace option to get the stack trace.\n"
    )
    assert str(found.location) == "/home/dev/shop/build.gradle:12"
    assert found.cause.startswith("Could not find method implementaton()")


def test_gradle_several():
    """Each failed task has a section of its own."""
    found = facts(
        "FAILURE: Build completed with 2 failures.\n\n1: Task failed with an exception.\n-----------\n"
        "* What went wrong:\nExecution failed for task ':lint'.\n> Lint found errors\n\n* Try:\n> x\n"
        "==============================================================================\n\n"
        "2: Task failed with an exception.\n-----------\n* What went wrong:\n"
        "Task 'biuld' not found in root project 'shop'.\n\n"
        "* Try:\n> y\n"
    )
    assert (found.cause, found.tally) == ("Lint found errors", "1 of 2 failures")
    assert found.details[-1] == "BuildFailure: Task 'biuld' not found in root project 'shop'."


@pytest.mark.parametrize(
    ("line", "kind", "location", "cause"),
    [
        pytest.param(
            "/src/A.java:[3,20] package x does not exist",
            "javac",
            "/src/A.java:3",
            "package x does not exist",
            id="java",
        ),
        pytest.param(
            "/src/A.kt: (3, 20) Unresolved reference: x",
            "kotlinc",
            "/src/A.kt:3",
            "Unresolved reference: x",
            id="kotlin",
        ),
        pytest.param(
            "file:///src/A.kt:[3,20] Unresolved reference: x",
            "kotlinc",
            "/src/A.kt:3",
            "Unresolved reference: x",
            id="kotlin address",
        ),
    ],
)
def test_compilers(line, kind, location, cause):
    """Compiler errors are told in the words of the compiler, once, however often Maven prints them."""
    found = facts(f"[ERROR] {line}\n[INFO] 1 error\n[ERROR] {line}\n[ERROR] -> [Help 1]\n")
    assert (found.type, str(found.location), found.cause, found.members) == (kind, location, cause, 1)


def test_arguments():
    """What javac requires, found and gives as the reason belongs to the error."""
    found = facts(
        "[ERROR] /src/A.java:[3,5] method of in class com.acme.Prices cannot be applied to given types;\n"
        "  required: java.lang.String\n  found:    int\n  reason: argument mismatch\n"
    )
    assert found.cause == (
        "method of in class com.acme.Prices cannot be applied to given types; "
        "required java.lang.String; found int; reason argument mismatch"
    )


def test_goal():
    """A goal that fails says why behind its coordinates; what Maven always says is dropped."""
    found = facts(
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-enforcer-plugin:3.4.1:enforce (default) "
        "on project "
        "shop: \n[ERROR] Rule 0: RequireJavaVersion failed with message:\n[ERROR] Detected JDK 17 is not 21.\n"
        "[ERROR] -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the "
        "-e switch.\n"
    )
    assert (found.type, found.cause, found.details) == (
        "BuildFailure",
        "maven-enforcer-plugin:enforce: Rule 0: RequireJavaVersion failed with message: Detected JDK 17 is not 21.",
        (),
    )


def test_without_line():
    """An error of a project need not have a line."""
    found = facts(
        "[ERROR] The build could not read 1 project -> [Help 1]\n[ERROR]   \n"
        "[ERROR]   The project com.acme:shop:1.0 (/home/dev/shop/pom.xml) has 1 error\n"
        "[ERROR]     Non-resolvable parent POM for com.acme:shop:1.0 -> [Help 2]\n[ERROR] \n"
    )
    assert (str(found.location), found.cause) == (
        "/home/dev/shop/pom.xml",
        "Non-resolvable parent POM for com.acme:shop:1.0",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("see [ERROR] in the log", id="mention"),
        pytest.param("[ERROR] something else", id="other tool"),
        pytest.param("how to read\n* What went wrong:", id="documentation"),
    ],
)
def test_not_taken(text):
    """Lines that other tools begin alike are left to others."""
    assert facts(text).format != "maven"


def test_keys():
    """Times do not matter; the missing artifact does."""
    assert key(GRADLE) == key(GRADLE.replace("in 1s", "in 7s"))
    assert key(GRADLE) != key(GRADLE.replace("acme:tax", "acme:vat"))
