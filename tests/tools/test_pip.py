"""What pip, uv, poetry and conda say; conda and older uvs are written by hand."""

# ruff: noqa: E501 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

BOX = """
      error: subprocess-exited-with-error

      \u00d7 Building wheel for shop (pyproject.toml) did not run successfully.
      \u2502 exit code: 1
      \u2570\u2500> [9 lines of output]
          Traceback (most recent call last):
            File "/tmp/pip-build-env-1a2b3c4d/overlay/lib/python3.11/site-packages/setuptools/build_meta.py", line 317, in run_setup
              exec(code, locals())
            File "<string>", line 7, in <module>
          RuntimeError: SHOP_HOME is not set
          [end of output]

      note: This error originates from a subprocess, and is likely not a problem with pip.
    ERROR: Failed building wheel for shop
"""


def test_build_in_a_box():
    """Of a build that failed inside, the exception at its place in the setup script is the failure."""
    found = facts(BOX)
    assert (found.format, found.type, str(found.location), found.cause) == (
        "pip",
        "RuntimeError",
        "<module> (setup.py:7)",
        "SHOP_HOME is not set",
    )
    assert found.details[-1] == "while Building wheel for shop (pyproject.toml)"


def test_silent_build_in_a_box():
    """A box without output leaves what pip says behind it."""
    found = facts("\u2570\u2500> [0 lines of output]\n    [end of output]\nERROR: Failed building wheel for shop")
    assert (found.type, found.cause) == ("PipError", "Failed building wheel for shop")


@pytest.mark.parametrize(
    ("text", "kind", "cause", "details"),
    [
        pytest.param(
            "error: externally-managed-environment\n\n\u00d7 This environment is externally managed\n\u2570\u2500> To install Python packages"
            " system-wide, try apt install\n    python3-xyz\n",
            "ExternallyManagedEnvironment",
            "This environment is externally managed",
            ("To install Python packages system-wide, try apt install",),
            id="externally managed",
        ),
        pytest.param(
            "ERROR: Ignored the following versions that require a different python version: 2.0 Requires-Python >=3.12\n"
            "ERROR: Could not find a version that satisfies the requirement shop==2.0 (from versions: 1.0, 1.1)\n"
            "ERROR: No matching distribution found for shop==2.0",
            "NoMatchingDistribution",
            "No matching distribution found for shop==2.0",
            (
                "Ignored the following versions that require a different python version: 2.0 Requires-Python >=3.12",
                "versions: 1.0, 1.1",
            ),
            id="other python",
        ),
        pytest.param(
            "ERROR: Could not find a version that satisfies the requirement shop (from versions: none)",
            "NoMatchingDistribution",
            "No matching distribution found for shop",
            ("versions: none",),
            id="end cut off",
        ),
        pytest.param(
            "ERROR: No matching distribution found for shop",
            "NoMatchingDistribution",
            "No matching distribution found for shop",
            (),
            id="head cut off",
        ),
        pytest.param(
            "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'ReadTimeoutError(\"HTTPSConnectionPool("
            "host='packages.example.com', port=443): Read timed out. (read timeout=15)\")': /simple/shop/\nERROR: No matching distribution found for shop",
            "ReadTimeoutError",
            "Read timed out. (read timeout=15",
            ("No matching distribution found for shop",),
            id="index does not answer",
        ),
        pytest.param(
            "ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:",
            "ResolutionImpossible",
            "Cannot install a==1 and b==2 because these package versions have conflicting dependencies.",
            (),
            id="conflict, cut off",
        ),
        pytest.param(
            "  \u00d7 No solution found when resolving dependencies:\n  \u2570\u2500\u25b6 Because shop depends on a>=2\n"
            "      and b depends on a<2, your requirements are unsatisfiable.\n\n      hint: Pre-releases are available for a",
            "NoSolution",
            "Because shop depends on a>=2 and b depends on a<2, your requirements are unsatisfiable.",
            ("hint: Pre-releases are available for a",),
            id="older uv",
        ),
        pytest.param(
            "error: Failed to spawn: `pytset`\n  Caused by: No such file or directory (os error 2)",
            "UvError",
            "Failed to spawn: `pytset`: No such file or directory (os error 2)",
            (),
            id="uv run",
        ),
        pytest.param(
            "  \u00d7 Failed to build `shop @ file:///src`\n  \u251c\u2500\u25b6 The build backend returned an error\n"
            "  \u2570\u2500\u25b6 Call to `backend.build_wheel` failed (exit status: 1)\n\n      [stdout]\n      shop.c:3:1: error: no money\n",
            "CompileError",
            "no money",
            ("Failed to build `shop @ file:///src`",),
            id="build by an older uv",
        ),
        pytest.param(
            "  \u00d7 Failed to build `shop @ file:///src`\n  \u2570\u2500\u25b6 Call to `backend.build_wheel` failed (exit status: 1)\n\n      [stderr]\n",
            "UvError",
            "Failed to build `shop @ file:///src`: Call to `backend.build_wheel` failed (exit status: 1)",
            (),
            id="silent build by uv",
        ),
        pytest.param(
            "Resolving dependencies...\n\nBecause shop depends on a (^2) which doesn't match any versions,\n version solving failed.",
            "SolverProblemError",
            "Because shop depends on a (^2) which doesn't match any versions, version solving failed.",
            (),
            id="poetry",
        ),
        pytest.param(
            "pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix the lock file.",
            "PoetryError",
            "pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix the lock file.",
            (),
            id="poetry, stale lock",
        ),
        pytest.param(
            "PackagesNotFoundError: The following packages are not available from current channels:\n\n  - libmony=2\n\nCurrent channels:\n\n"
            "  - https://conda.example.org/main\n",
            "PackagesNotFoundError",
            "The following packages are not available from current channels: libmony=2",
            (),
            id="conda",
        ),
        pytest.param(
            "CondaError: Run 'conda init' first", "CondaError", "Run 'conda init' first", (), id="conda itself"
        ),
    ],
)
def test_facts(text, kind, cause, details):
    """What could not be resolved or installed, and why, is the cause."""
    found = facts(text)
    assert (found.format, found.type, found.cause, found.details) == ("pip", kind, cause, details)


def test_several_conflicts_with_what_is_installed():
    """Each package that an installation leaves incompatible is a failure of its own."""
    found = facts("""
        ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.
        a 1.0 requires c<2, but you have c 2.0 which is incompatible.
        b 1.0 requires d, which is not installed.
    """)
    assert (found.cause, found.tally) == (
        "a 1.0 requires c<2, but you have c 2.0 which is incompatible",
        "1 of 2 conflicts",
    )
    assert found.details == ("IncompatibleDependency: b 1.0 requires d, which is not installed",)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ERROR: something of any program", id="any error"),
        pytest.param("error: boom\n  in line 3\n  Caused by: chance", id="headline without causes"),
        pytest.param(
            "ERROR: pip's dependency resolver does not currently take into account all packages.", id="cut off"
        ),
        pytest.param("solving the puzzle; resolving; version solving is fun", id="prose"),
    ],
)
def test_other_texts_are_not_taken(text):
    """What no installer said is of another format."""
    assert facts(text).format != "pip"


def test_key():
    """The key follows the exception and its place, and neither temporary folders nor lines."""
    first = key(BOX)
    moved = BOX.replace("1a2b3c4d", "z9y8x7w6").replace("line 7", "line 70").replace("[9 lines", "[19 lines")
    assert first == key(moved)
    assert first != key(BOX.replace("SHOP_HOME", "SHOP_KEY"))


def test_a_request_that_is_repeated_is_named_once():
    """Pip repeats what was requested before each requirement that excludes it; the first two sides are the cause."""
    sides = ("a 0.61 depends on Django>=3.2", "b 24.1 depends on Django>=4.2")
    listed = "".join(f"    The user requested django<2\n    {side}\n" for side in sides)
    found = facts(f"ERROR: Cannot install a and b\n\nThe conflict is caused by:\n{listed}")
    assert found.cause == "The user requested django<2; a 0.61 depends on Django>=3.2"
    assert found.details == ("b 24.1 depends on Django>=4.2",)
