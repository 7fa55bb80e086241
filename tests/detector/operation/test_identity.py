"""The operation of a call, and its targets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.detector.operation import (
    covers,
    last_command,
    operation_of,
)
from otel_errcompact.detector.operation.targets import MAX_TARGET, MAX_TARGETS
from otel_errcompact.errors import Operation
from tests.clock import costs_little


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


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        # Subcommands, tasks and the values of options
        ("mise run lint", "bash mise run lint"),
        ("just -f ci.just lint", "bash just lint -f ci.just"),
        ("poe lint", "bash poe lint"),
        ("tox -e py311", "bash tox -e py311"),
        ("nox -s lint", "bash nox -s lint"),
        ("npx nx run web:test", "bash nx run web:test"),
        ("cargo xtask ci", "bash cargo xtask ci"),
        ("hatch run lint", "bash lint"),
        ("deno task build", "bash deno task build"),
        ("pnpm --filter web test", "bash pnpm test --filter web"),
        ("pnpm -F web test", "bash pnpm test -F web"),
        ("npm --workspace a run test", "bash npm run test --workspace a"),
        ("npm --unknown-option value test", "bash npm test"),
        ("npm --silent test", "bash npm test"),
        ("git --no-pager log", "bash git log"),
        ("yarn workspace api test", "bash yarn test --workspace api"),
        ("turbo run build --filter=x", "bash turbo run build --filter x"),
        ("docker compose -f x.yml up", "bash docker compose up -f x.yml"),
        ("kubectl -n ns get pods", "bash kubectl get -n ns pods"),
        ("gradle -p app test --tests Foo", "bash gradle test --tests Foo -p app"),
        ("ruff format a.py", "bash ruff format a.py"),
        # Files, tests, packages, tables, URLs
        ("pytest -q ./tests/a.py::test_x", "bash pytest tests/a.py::test_x"),
        ("pytest -k foo", "bash pytest -k foo"),
        ("pytest --lf", "bash pytest --lf"),
        ("pytest --unknown tests/", "bash pytest --unknown tests"),
        ("python manage.py test app.tests", "bash python manage.py test app.tests"),
        ("python a/run.py --fast b.csv", "bash python run.py a/run.py b.csv"),
        ("pip install b a", "bash pip install a b"),
        ("go test ./pkg -run TestX", "bash go test -run TestX pkg"),
        ("curl -s -X POST -H 'A: b' -d '{}' https://me:secret@x.test/z?q=1#top", "bash curl https://x.test/z?q=1"),
        ("psql -c 'select a from orders'", "bash psql orders"),
        ("git commit -m 'say why'", "bash git commit"),
        ("grep -rn 'a b' src", "bash grep src"),
        ("sed -i 's/a/b/' f.py", "bash sed f.py"),
        ("head -n 50 a.txt", "bash head a.txt"),
        ("python -c 'print(1)'", "bash python -c"),
        # Folders
        ("cd web && npm test", "bash npm test web/"),
        ("npm --prefix web test", "bash npm test web/"),
        ("cd /app; cd web; make", "bash make /app/web/"),
        ("git -C lib status", "bash git status lib/"),
        # Several programs
        ("pytest a.py | tail -5", "bash pytest a.py"),
        ("pytest a.py; pytest b.py", "bash pytest a.py b.py"),
        ("sed -i 's/a/b/' f.py && pytest f.py", "bash pytest f.py"),
        ("ruff check . && pytest a.py", "bash ruff check a.py and pytest"),
        ("ls; cat a.py", "bash ls a.py and cat"),
        ("pytest a.py || true", "bash pytest a.py"),
    ],
)
def test_what_a_command_is_about(command: str, operation: str):
    """
    Files, tests, packages, tables, URLs and folders are targets; values that say how are none.
    """
    assert str(operation_of("bash", {"command": command})) == operation


@pytest.mark.parametrize(
    ("tool", "arguments", "targets"),
    [
        ("edit", {"path": "./a.py", "old": "x", "new": "y"}, ("a.py",)),
        ("edit", '{"file_path": "/app/a.py"}', ("/app/a.py",)),
        ("read_many", {"filePaths": ["b.py", "a.py"]}, ("a.py", "b.py")),
        ("multi_edit", {"edits": [{"path": "b.py"}, {"path": "a.py"}], "note": "x"}, ("a.py", "b.py")),
        ("book", {"booking_id": "B1", "flights": [{"flight_number": "F1"}]}, ("B1",)),
        ("fetch", {"url": "https://u:p@x.test/a?page=2#b"}, ("https://x.test/a?page=2",)),
        ("pay", {"to": "bob", "amount": 1}, ("bob",)),
        ("move", {"from": "b", "to": "a"}, ("from=b", "to=a")),
        ("create_issue", {"repo": "a/b", "title": "It fails", "body": "Long text"}, ("It fails", "a/b")),
        ("get_order", {"orderId": 42, "limit": 10, "verbose": True}, ("42",)),
        ("sql", {"query": "select amount from orders"}, ("orders",)),
        ("sql", {"query": "select total from Orders o join public.customers c on 1=1"}, ("orders", "public.customers")),
        ("sql", {"sql": "with t as (select 1 from a) insert into b select * from t"}, ("a", "b")),
        ("sql", {"statement": "CREATE TABLE IF NOT EXISTS logs (x int)"}, ("logs",)),
        ("search", {"query": "how to update a from b"}, ()),
        ("write_file", {"path": "a.py", "content": "path: b.py"}, ("a.py",)),
        ("call_api", {"api_key": "abc", "access_key": "def"}, ()),
        ("write_stdin", {"session_id": 7, "chars": "x"}, ("7",)),
        ("bash", {"command": "make", "session_id": 7}, ("session_id=7",)),
        ("shell", {"command": ["make"], "workdir": "/app"}, ("/app/",)),
        ("open", "a.py", ("a.py",)),
        ("say", "some free text", ()),
        ("note", {"title": "x" * 2_000}, ()),
        ("read", {"path": ""}, ()),
        ("read", {}, ()),
    ],
)
def test_what_other_tools_are_about(tool: str, arguments, targets: tuple[str, ...]):
    """
    Values of arguments whose names name a thing are targets, and the tables of SQL.
    """
    found = operation_of(tool, arguments)
    assert found.targets == targets
    if isinstance(arguments, dict):
        assert operation_of(tool, json.dumps(arguments)) == found


def test_a_caller_knows_better():
    """
    A target that the caller gives wins over what arguments tell.
    """
    assert operation_of("edit", {"path": "a.py"}, target="b.py") == Operation("edit", ("b.py",))
    assert operation_of("bash", {"command": "pytest a.py"}, target="shop") == Operation("bash pytest", ("shop",))


def test_sessions_of_one_tool_are_apart():
    """
    What fails in one terminal is not resolved by what works in another.
    """
    one, other = (operation_of("write_stdin", {"session_id": number, "chars": "x"}) for number in (1, 2))
    assert not covers(one, other)
    assert operation_of("bash", {"command": "make", "terminal": "a"}) != operation_of("bash", {"command": "make"})


def test_targets_are_bounded():
    """
    Of many targets a few are kept, and a hash that tells others apart.
    """
    many, others = ([f"{number}.py" for number in range(size)] for size in (20, 21))
    found, other = operation_of("read", {"paths": many}), operation_of("read", {"paths": others})
    assert len(found.targets) == MAX_TARGETS
    assert found != other
    long, longer = (operation_of("read", {"path": "a/" * 150 + name}) for name in ("a", "b"))
    assert len(long.targets[0]) <= MAX_TARGET
    assert long != longer


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["path", "id", "query", "edits", "command"]), inner)
    ),
)


@given(st.sampled_from(["bash", "edit", "Grep"]), st.dictionaries(st.text() | st.just("path"), VALUES) | VALUES)
def test_no_arguments_are_too_strange(tool: str, arguments):
    """
    Whatever the arguments are, there is an operation; it is within bounds, and it covers itself.
    """
    found = operation_of(tool, arguments)
    assert found.name.startswith(tool)
    assert len(found.targets) <= MAX_TARGETS
    assert all(type(target) is str and len(target) <= MAX_TARGET for target in found.targets)
    assert covers(found, found)


def test_hostile_arguments():
    """
    Cycles, mappings that raise and names that are none give the tool alone.
    """

    class Raising(dict):
        def items(self):
            raise RuntimeError("no")

    cyclic: dict[str, object] = {}
    cyclic["path"] = cyclic
    assert operation_of("edit", cyclic) == Operation("edit")
    assert operation_of("edit", Raising(path="a")) == Operation("edit")
    assert operation_of(None, {"path": "a"}).name == "NoneType"  # type: ignore[arg-type]


@pytest.mark.cost
@pytest.mark.parametrize("unit", ["a/", '{"a":', '"', "select from ", "x as (", "://", "../", "-", "A"])
def test_hostile_values_cost_little(unit: str):
    """
    Arguments are looked at in linear time, and only their beginning.
    """
    text = unit * 100_000

    def read_all() -> None:
        for arguments in (text, {"path": text}, {"query": text}, {"query": f"select {text}"}, {"paths": [text] * 100}):
            operation_of("edit", arguments)
        operation_of("edit", dict.fromkeys(map(str, range(100_000)), text))

    assert costs_little(read_all)


@given(st.text() | st.dictionaries(st.text(), st.text() | st.lists(st.text())) | st.none())
def test_operation_is_found_for_anything(arguments):
    """
    Whatever the arguments are, the operation begins with the tool's name.
    """
    assert operation_of("bash", arguments).name.startswith("bash")
    if arguments is not None:
        assert operation_of("bash", {"command": arguments}).name.startswith("bash")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        pytest.param("browser", {"action": "click", "url": "http://a/b"}, "browser click http://a/b", id="an action"),
        pytest.param("execute", {"command": "select a from orders"}, "execute orders", id="SQL where a command stands"),
        pytest.param("pay", {"-": "x"}, "pay", id="an argument whose name holds no word"),
        pytest.param("get", {"boxes": ["a"]}, "get", id="a plural of no thing"),
        pytest.param("get", {"repositories": ["a"]}, "get a", id="a plural in -ies"),
        pytest.param("bash", {"command": "head -n 5 a.txt"}, "bash head a.txt", id="the number of an option"),
        pytest.param(
            "bash", {"command": "git commit -m 'wip' a.py"}, "bash git commit a.py", id="an option with a text"
        ),
        pytest.param(
            "bash", {"command": "pytest --maxfail 3 tests/a.py"}, "bash pytest tests/a.py", id="a harmless value"
        ),
        pytest.param("bash", {"command": "tmux -L"}, "bash tmux", id="options and no subcommand"),
    ],
)
def test_what_a_call_is_about(tool: str, arguments: dict[str, object], expected: str):
    """
    The rules of `docs/reference/escalation.md`, where a call has less than usual.
    """
    assert str(operation_of(tool, arguments)) == expected


def test_a_question_about_a_command_is_not_that_command():
    """
    `command -v` asks whether a program is there, and `command` alone runs it.
    """
    assert last_command("bash", {"command": "command -v ruff"}) == ("command", "-v", "ruff")
    assert last_command("bash", {"command": "command ruff check"}) == ("ruff", "check")
    assert str(operation_of("bash", {"command": "program --depth 5 a.txt"})) == "bash program a.txt"


def test_options_alone_are_no_subcommand():
    """
    A program that has subcommands, called with none of them.
    """
    assert str(operation_of("bash", {"command": "ruff --version"})) == "bash ruff"
