"""What docker and its builds say; all samples are written by hand after BuildKit's and compose's forms."""

# ruff: noqa: E501 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

BUILD = """
    #0 building with "default" instance using docker driver
    #7 [2/4] WORKDIR /app
    #7 CACHED
    #9 [4/4] RUN pip install -r requirements.txt
    #9 1.021 Collecting requests==99.1
    #9 1.310 ERROR: Could not find a version that satisfies the requirement requests==99.1 (from versions: 2.1, 2.2)
    #9 1.311 ERROR: No matching distribution found for requests==99.1
    #9 ERROR: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1
    ------
     > [4/4] RUN pip install -r requirements.txt:
    1.021 Collecting requests==99.1
    1.310 ERROR: Could not find a version that satisfies the requirement requests==99.1 (from versions: 2.1, 2.2)
    1.311 ERROR: No matching distribution found for requests==99.1
    ------
    Dockerfile:5
    --------------------
       3 |     COPY requirements.txt .
       5 | >>> RUN pip install -r requirements.txt
    --------------------
    ERROR: failed to solve: process "/bin/sh -c pip install -r requirements.txt" did not complete successfully: exit code: 1
"""
STEP = "RUN pip install -r requirements.txt"


def test_build_step():
    """Of a build step that failed, what the program in it said is the cause, and the step is a detail."""
    found = facts(BUILD)
    assert (found.format, found.type, str(found.location), found.cause) == (
        "docker",
        "NoMatchingDistribution",
        "Dockerfile:5",
        "No matching distribution found for requests==99.1",
    )
    assert found.details == (f"[4/4] {STEP} failed with exit code 1 (Dockerfile:5)", "versions: 2.1, 2.2")


def test_build_step_in_plain_progress():
    """A build whose end is cut off is read from its progress."""
    found = facts(BUILD[: BUILD.index("    ------")])
    assert (found.cause, found.details[0]) == (
        "No matching distribution found for requests==99.1",
        f"[4/4] {STEP} failed with exit code 1",
    )


def test_build_step_whose_head_is_cut_off():
    """What the last line says of the step stands in for what is missing."""
    found = facts(BUILD.strip().split("\n")[-1])
    assert (found.type, found.cause) == ("exit code 1", f"{STEP} failed with exit code 1")


@pytest.mark.parametrize(
    ("said", "kind", "cause"),
    [
        pytest.param("sh: 1: jqq: not found", "CommandNotFound", "jqq: command not found", id="shell"),
        pytest.param(
            "E: Unable to locate package libmoney", "PackageNotFound", "Unable to locate package libmoney", id="apt"
        ),
        pytest.param(
            "no licence was found for this machine", "exit code 3", "no licence was found for this machine", id="prose"
        ),
    ],
)
def test_programs_in_steps(said, kind, cause):
    """The program in a step is read in its own format."""
    text = f' > [1/2] RUN setup:\n0.123 {said}\n0.124\n------\nERROR: failed to solve: process "/bin/sh -c setup" did not complete successfully: exit code: 3'
    found = facts(text)
    assert (found.format, found.type, found.cause) == ("docker", kind, cause)


def test_excerpt_without_times():
    """Older builders repeat the output without times; the progress tells the exit code where the end is cut off."""
    found = facts(
        ' > [1/2] RUN setup:\nsh: 1: jqq: not found\n#5 ERROR: process "/bin/sh -c setup" did not complete successfully: exit code: 3'
    )
    assert (found.type, found.details) == ("CommandNotFound", ("[1/2] RUN setup failed with exit code 3",))


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(
            "Dockerfile:3\n--------\n   3 | >>> COPY app.py .\n--------\nERROR: failed to solve: failed to compute cache key:"
            ' failed to calculate checksum of ref: "/app.py": not found',
            "BuildError",
            'failed to compute cache key: failed to calculate checksum of ref: "/app.py": not found',
            id="file is missing",
        ),
        pytest.param(
            'docker: Error response from daemon: Conflict. The container name "/web" is already in use.',
            "DockerError",
            'Conflict. The container name "/web" is already in use.',
            id="daemon",
        ),
        pytest.param(
            'service "web" depends on undefined service "db": invalid compose project',
            "ComposeError",
            'service "web" depends on undefined service "db": invalid compose project',
            id="compose",
        ),
        pytest.param(
            "Container shop-db-1  Error\ndependency failed to start: container shop-db-1 is unhealthy",
            "ComposeError",
            "dependency failed to start: container shop-db-1 is unhealthy",
            id="compose, unhealthy",
        ),
        pytest.param(
            "Error response from daemon: manifest for nginx:9.9 not found: manifest unknown: manifest unknown",
            "DockerError",
            "manifest for nginx:9.9 not found: manifest unknown: manifest unknown",
            id="image",
        ),
    ],
)
def test_statements(text, kind, cause):
    """What docker, its daemon or compose refuses is the cause."""
    found = facts(text)
    assert (found.format, found.type, found.cause) == ("docker", kind, cause)


def test_marked_line_of_the_dockerfile_is_a_detail():
    """The line that BuildKit marks is shown where no program has failed."""
    found = facts("Dockerfile:3\n   3 | >>> COPY app.py .\nERROR: failed to solve: not found")
    assert (str(found.location), found.details) == ("Dockerfile:3", ("> COPY app.py .",))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The Dockerfile was written by the docker team", id="prose"),
        pytest.param("unknown flag: --naem\nsee composer --help", id="flag of another program"),
    ],
)
def test_other_texts_are_not_taken(text):
    """A text that only mentions docker is of another format."""
    assert facts(text).format != "docker"


def test_key():
    """The key is that of the failure in the step, whatever the step's number and the time."""
    other = BUILD.replace("4/4", "3/9").replace("1.311", "22.9").replace("Dockerfile:5", "Dockerfile:8")
    first = key(BUILD)
    assert first == key(other)
    assert first != key(BUILD.replace("requests", "httpx"))
