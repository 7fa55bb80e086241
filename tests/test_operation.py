"""Which operation a call is, and which calls are identical."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.operation import call_fingerprint, operation_of, programs_of


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        pytest.param("pytest -x", "bash pytest", id="program"),
        pytest.param("cd /app && pytest tests 2>&1 | tail -50", "bash pytest", id="after cd, before a pipe"),
        pytest.param("export A=1; source x.sh; make test", "bash make test", id="after preparations"),
        pytest.param("A=1 B='x y' pytest", "bash pytest", id="after assignments"),
        pytest.param("V=$(date) ruff check .", "bash ruff check", id="after an assigned substitution"),
        pytest.param("sudo -u me timeout -k 5 30 pytest", "bash pytest", id="in wrappers"),
        pytest.param("time (make all)", "bash make all", id="in a timed group"),
        pytest.param("uv run --with x pytest -q", "bash pytest", id="in a runner"),
        pytest.param("bundle exec rspec", "bash rspec", id="in a runner of another name"),
        pytest.param("uv pip install x", "bash uv pip install", id="two subcommands"),
        pytest.param("npm --prefix web run build", "bash npm run build", id="script behind run"),
        pytest.param("git -C /app push origin main", "bash git push", id="subcommand behind an option with value"),
        pytest.param("docker compose -f x.yml up -d", "bash docker compose up", id="two subcommands with options"),
        pytest.param("make -j 8 CC=gcc test", "bash make test", id="target behind assignments"),
        pytest.param("cargo +nightly test", "bash cargo test", id="toolchain"),
        pytest.param("git", "bash git", id="no subcommand"),
        pytest.param("/app/.venv/bin/python3.11 -m pytest -q", "bash python -m pytest", id="module"),
        pytest.param("python -u /app/run.py --fast", "bash python run.py", id="script"),
        pytest.param("python manage.py migrate", "bash python manage.py migrate", id="script with subcommands"),
        pytest.param("python - <<'EOF'\nimport os\nEOF", "bash python -", id="script from a document"),
        pytest.param("python", "bash python", id="interpreter alone"),
        pytest.param("node -e 'x()'", "bash node -e", id="code"),
        pytest.param("bash -lc 'cd x; go test ./...'", "bash go test", id="command in a shell"),
        pytest.param("sh deploy.sh prod", "bash sh deploy.sh", id="script of a shell"),
        pytest.param("./gradlew test", "bash gradlew test", id="program in a folder"),
        pytest.param("C:/tools/mvn.exe -q verify", "bash mvn verify", id="program on Windows"),
        pytest.param("cat > a.py <<EOF\ngit push\nEOF\npython a.py", "bash python a.py", id="writing a file first"),
        pytest.param("cat <<EOF\nunfinished", "bash cat", id="document without end"),
        pytest.param("# check\nmix test", "bash mix test", id="comment"),
        pytest.param("for f in *; do ruff $f; done", "bash ruff", id="loop"),
        pytest.param("if [ -f x ]; then make; fi", "bash make", id="condition"),
        pytest.param("foo 2>&- bar >out", "bash foo", id="redirections"),
        pytest.param("echo hi; cd /app", "bash", id="nothing but preparations"),
        pytest.param("sudo", "bash", id="wrapper of nothing"),
        pytest.param("A=1", "bash", id="nothing but an assignment"),
        pytest.param("timeout 5", "bash", id="time-out of nothing"),
        pytest.param("'", "bash", id="open quote"),
        pytest.param("/", "bash", id="a folder"),
        pytest.param("", "bash", id="nothing"),
    ],
)
def test_operation_of_a_command(command: str, operation: str):
    """
    A tool that runs commands is told apart by the program and its subcommand.
    """
    assert operation == operation_of("bash", {"command": command}).name


@pytest.mark.parametrize(
    ("tool", "arguments", "operation"),
    [
        pytest.param("shell", {"command": ["bash", "-lc", "cd x && pytest"]}, "shell pytest", id="argument vector"),
        pytest.param("exec", {"cmd": "go vet ./..."}, "exec go vet", id="cmd"),
        pytest.param("exec", '{"cmd": "go vet ./..."}', "exec go vet", id="JSON"),
        pytest.param("Bash", "pytest -x", "Bash pytest", id="command line itself"),
        pytest.param("bash", '{"x": 1}', "bash", id="JSON without a command"),
        pytest.param("read_file", {"path": "a.py"}, "read_file", id="no command"),
        pytest.param("read_file", "pytest", "read_file", id="text for another tool"),
        pytest.param("edit", {"command": "str_replace", "path": "x"}, "edit str_replace", id="command of an editor"),
        pytest.param("bash", {"command": 5}, "bash", id="number"),
        pytest.param("bash", {"command": ["make", 5, None]}, "bash make", id="vector with other things"),
        pytest.param("bash", '["command"]', "bash", id="a list"),
        pytest.param("bash", '{"command": ', "bash", id="malformed JSON"),
        pytest.param("bash", '{"command":' + "[" * 100_000, "bash", id="nested JSON"),
        pytest.param("bash", None, "bash", id="no arguments"),
    ],
)
def test_operation_of_arguments(tool: str, arguments, operation: str):
    """
    Commands are found in whatever shape arguments come; what cannot be read is the tool's name alone.
    """
    assert operation == operation_of(tool, arguments).name


def test_programs_of_a_pipeline():
    """
    All programs of a command line are named in their order.
    """
    assert list(programs_of("bash", "git log | grep x; sudo pytest | tail")) == ["git log", "grep", "pytest", "tail"]


def test_nesting_of_shells_is_bounded():
    """
    Shells in shells are followed a few levels deep, then the shell is the program.
    """
    assert list(programs_of("bash", {"command": ["bash", "-c", """bash -c 'bash -c "bash -c ls"'"""]})) == ["bash -c"]


@given(st.text() | st.dictionaries(st.text(), st.text() | st.lists(st.text())) | st.none())
def test_operation_is_found_for_anything(arguments):
    """
    Whatever the arguments are, the operation begins with the tool's name.
    """
    assert operation_of("bash", arguments).name.startswith("bash")
    if arguments is not None:
        assert operation_of("bash", {"command": arguments}).name.startswith("bash")


@pytest.mark.parametrize(
    "unit",
    ["a", "$(", "a$(b", "'", '"', "\\", "<<a\n", "<< ", "|", "sudo ", "bash -c '", "\n#", "((", "x=", "-", "if "],
)
def test_hostile_command_costs_little(unit: str):
    """
    Only the beginning of a command line is looked at.
    """
    command = unit * 100_000

    start = time.process_time()
    list(programs_of("bash", command))
    operation_of("bash", {"command": [unit] * 100_000})

    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            {"a": 1, "b": [1, {"x": None, "y": 2}]}, {"b": [1, {"y": 2, "x": None}], "a": 1}, id="order of keys"
        ),
        pytest.param({"a": "ä"}, '{ "a":"\\u00e4" }', id="spaces and escapes"),
        pytest.param("ls -l", "ls -l", id="text"),
        pytest.param(None, None, id="no arguments"),
        pytest.param({"at": complex(1, 2)}, {"at": complex(1, 2)}, id="a value that JSON does not know"),
    ],
)
def test_identical_calls(one, other):
    """
    Equal arguments give one fingerprint, however they were written.
    """
    assert call_fingerprint("query", one) == call_fingerprint("query", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("query", {"a": 1}), ("query", {"a": 2}), id="another value"),
        pytest.param(("query", {"a": 1}), ("query", {"a": "1"}), id="another type"),
        pytest.param(("query", {"a": 1}), ("update", {"a": 1}), id="another tool"),
        pytest.param(("query", None), ("query", {}), id="no arguments and empty ones"),
        pytest.param(("bash", "ls"), ("bash", "ls -l"), id="another text"),
        pytest.param(("bash", "{ls"), ("bash", "{ls -l"), id="another text that looks like JSON"),
    ],
)
def test_other_calls(one, other):
    """
    Another tool or other arguments give another fingerprint.
    """
    assert call_fingerprint(*one) != call_fingerprint(*other)


def test_fingerprint_is_known():
    """
    The fingerprint is sixteen hexadecimal characters, the same in every process.
    """
    assert call_fingerprint("query", {"a": 1}) == "65cc9de77f049d8a"


def test_arguments_without_a_form_are_never_identical():
    """
    Arguments that cannot be written down have a fingerprint of their own each, so that no call is taken for a repeat.
    """

    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    one, other = {"x": Hostile()}, {"x": Hostile()}

    assert call_fingerprint("query", one) != call_fingerprint("query", other)
    assert call_fingerprint("query", one) == call_fingerprint("query", one)


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers())))
def test_arguments_as_mapping_and_as_json_are_one(arguments: dict[str, object]):
    """
    It does not matter whether arguments come parsed or as JSON.
    """
    assert call_fingerprint("query", arguments) == call_fingerprint("query", json.dumps(arguments))
