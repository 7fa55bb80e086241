"""The table of formats."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from otel_errcompact import tools
from otel_errcompact.compactor.hints import hints
from otel_errcompact.detector.kinds import kind_of
from otel_errcompact.detector.operation import operation_of, programs
from otel_errcompact.detector.results import classify_result
from otel_errcompact.errors import EXECUTED, REJECTED, TRANSIENT, Evidence, Facts, RawError
from otel_errcompact.extract import recognition, table
from otel_errcompact.extract.command import Command
from otel_errcompact.extract.format import Format, Hint, Listing, split_names
from otel_errcompact.extract.index import COMMANDS, INDEX
from otel_errcompact.extract.prefilter import Prefilter
from otel_errcompact.tools import ORDER, WITHOUT_FORMAT
from tests.extract.reading import extract


def cow(**stated):
    """Return a format of the test's own."""
    return Format(**{"name": "cow", "markers": (), "read": lambda _: None, **stated})


@pytest.mark.parametrize("row", INDEX, ids=lambda row: row.name)
def test_index_says_what_the_formats_say(row):
    """The light index is made of the formats; `make docs` writes it."""
    found = import_module(f"otel_errcompact.tools.{row.name}").FORMAT
    of_format = {field.name: getattr(found, field.name) for field in dataclasses.fields(Listing)}
    found_by_docs = {"programs": row.programs, "clues": row.clues, "clues_of_passes": row.clues_of_passes}
    assert row == Listing(**{**of_format, **found_by_docs})


def test_every_format_has_its_place():
    """Each file of the folder stands once in the order, or has no format, and the order is that of the index."""
    files = {path.stem for path in Path(tools.__file__).parent.glob("[a-z]*.py")}
    assert sorted((*ORDER, *WITHOUT_FORMAT)) == sorted(files)
    assert tuple(row.name for row in INDEX) == ORDER


def test_each_command_has_one_row():
    """Who looks for what is known of a program finds all of it in one place."""
    names = [name for row in COMMANDS for name in split_names(row.names)]
    assert sorted(names) == sorted(set(names))
    assert len(names) > 400


def test_the_index_has_the_commands_of_each_tool():
    """Those of formats, and those of tools whose output no format reads."""
    formats = [import_module(f"otel_errcompact.tools.{name}").FORMAT for name in ORDER]
    others = [import_module(f"otel_errcompact.tools.{name}").TOOL for name in WITHOUT_FORMAT]
    assert tuple(row for tool in (*formats, *others) for row in tool.commands) == COMMANDS
    assert [tool.name for tool in others] == list(WITHOUT_FORMAT)


def test_what_commands_print_are_formats():
    """A tool names the formats of others that it prints by names of the table."""
    printed = {name for row in COMMANDS for name in (row.prints or "").split()}
    assert printed <= set(ORDER)
    assert {"node", "jest"} <= set(next(row for row in INDEX if row.name == "jest").programs)


def test_last_format_takes_any_text():
    """The last resort has no markers."""
    assert table.LAST_RESORT.name == "prose"
    assert table.LAST_RESORT.markers == ()


def test_rows_are_frozen():
    """A row cannot be changed, only replaced."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        INDEX[0].name = "x"


@pytest.mark.programs
def test_no_format_is_loaded_before_its_first_text():
    """Importing the room loads no format; a text loads those whose markers it has and those that have none."""
    script = (
        "import json, sys\n"
        "def loaded(): return sorted(name.rpartition('.')[2] for name in sys.modules"
        " if name.startswith('otel_errcompact.tools.'))\n"
        "import otel_errcompact.extract, otel_errcompact.extract.extraction, otel_errcompact.compactor.classify\n"
        "from otel_errcompact.detector.results import classify_result\n"
        "from otel_errcompact.errors import RawError\n"
        "classify_result('Traceback (most recent call last):', tool='bash')\n"
        "found = [loaded()]\n"
        "otel_errcompact.compactor.classify.classify(RawError(text='no such luck'))\n"
        "found.append(loaded())\n"
        "print(json.dumps(found))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout)
    assert before == []
    assert after == ["harness", "http", "llm", "plain", "prose", "shell"]


WITHOUT_PROGRAMS = {
    "harness": "a harness is no program of a command line",
    "ipython": "its traceback is Python's",
    "rich": "its frames stand around a traceback of Python",
    "plain": "any text",
    "prose": "any text",
    "shell": "the shell runs every command line",
    **dict.fromkeys(("validation", "rpc", "llm"), "functions answer with it"),
}
"""Formats that no program of a command line prints, and why."""


def test_every_format_knows_its_programs():
    """Who prints it, and how they close, or it is known why not."""
    assert {row.name for row in INDEX if not row.programs} == set(WITHOUT_PROGRAMS)
    assert {row.name for row in INDEX if row.programs and not (row.closings or row.stacks)} == set()


# --- formats of users ------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch):
    """Let the entry points of a test be those that are installed."""

    def install(*found):
        points = [EntryPoint(f"p{number}", f"{__name__}:p{number}", table.GROUP) for number in range(len(found))]
        objects = dict(zip((point.value for point in points), found, strict=True))
        monkeypatch.setattr(EntryPoint, "load", lambda point: objects[point.value])
        monkeypatch.setattr(table, "entry_points", lambda group: points if group == table.GROUP else [])
        for cached in caches():
            cached.cache_clear()

    yield install
    monkeypatch.undo()
    for cached in caches():
        cached.cache_clear()


def caches():
    """Return what is remembered of the table."""
    told, closing = (import_module(f"otel_errcompact.{name}") for name in ("compactor.hints", "detector.closing"))
    return (
        table.listings,
        table.prefilters,
        *(table.names_of, table.patterns_of, table.rejections, table.speakers),
        table.commands,
        programs.rows_of,
        told.hints,
        told._list_clues,
        told._join_signs,
        closing._of_any_program,
        closing._owners_of,
    )


def test_a_format_of_a_user(installed):
    """It is tried first, where a marker stands in the text; the table puts its name into the facts."""
    asked = []

    def read(text):
        asked.append(text.body)
        return Facts(type="moo", cause=text.lines[0]) if text.body.startswith("cow") else None

    installed(cow(markers=("cow", "moo"), read=read))
    found = extract(RawError(text="cow: KeyError: no milk"))
    assert (found.format, found.type) == ("cow", "moo")
    assert extract(RawError(text="a moo was not heard")).format == "prose"
    assert extract(RawError(text="KeyError: 'x'")).format == "plain"
    assert asked == ["cow: KeyError: no milk", "a moo was not heard"]


def test_evidence_of_a_user_holds_no_secret(installed):
    """What a format brings of its own is redacted as what is gathered from the text."""
    lines = Evidence("DB_PASSWORD=hunter2secret99", 5), Evidence("pail 3", 1)
    installed(cow(markers=("cow",), read=lambda _: Facts(type="moo", cause="no milk", evidence=lines)))
    shown = [line for line, _ in extract(RawError(text="cow: no milk")).evidence]
    assert shown == ["DB_PASSWORD=[REDACTED:password]", "pail 3"]


def test_commands_of_a_user(installed):
    """Its subcommands and the statuses by which it answers are known as those of a built-in tool."""
    said = {"tool": "bash", "arguments": '{"command": "milk check barn"}', "exit_code": 3}
    assert classify_result("no cow", **said).outcome == "failure"
    assert operation_of("bash", {"command": "milk check barn"}).name == "bash milk"
    installed(cow(commands=(Command("milk", subcommands="*"), Command("milk check", answers=(3,)))))
    assert classify_result("no cow", **said).outcome == "ignored"
    assert operation_of("bash", {"command": "milk check barn"}).name == "bash milk check"


def test_traits_of_a_format_of_a_user(installed):
    """Its types of rejected calls, and that it judges code, count as those of built-in formats."""
    raw = RawError(text="", tool="milk")
    said = Facts(type="NoSuchCow", cause="the request timed out", format="cow")
    assert kind_of(raw, said) == TRANSIENT
    installed(cow(judges_code=True))
    assert kind_of(raw, said) == EXECUTED
    installed(cow(rejects=("NoSuchCow",)))
    assert kind_of(raw, said) == REJECTED


def test_what_a_program_of_a_user_puts_before_lines(installed):
    """Margins and the names before errors are known beside those of built-in tools."""
    installed(cow(margins=("moo> ",), commands=(Command("milk", speaks="milk, moo"),)))
    assert table.patterns_of("margins").startswith("moo> |npm ")
    assert table.speakers() & {"git", "ls", "milk", "moo", "tail"} == {"git", "ls", "milk"}
    assert table.speakers(unread=True) & {"git", "ls", "milk", "moo", "tail"} == {"ls", "tail"}


def test_closings_and_hints_of_a_user(installed):
    """Detection and hints read the one table."""
    text = "Milking\nCOW DRY after 3 pails\n"
    assert classify_result(text, tool="bash", arguments="milk | tail").outcome == "success"
    hint = Hint("feed the cow", ("DryCow",), ("DryCow", "no milk"))
    installed(cow(programs=("milk",), closings=(r"COW DRY\b",), passes=("All milked",), hints=(hint,)))
    found = classify_result(text, tool="bash", arguments="milk | tail")
    assert (found.outcome, found.certainty, found.stated) == ("failure", "stated", "cow")
    assert classify_result(f"{text}All milked", tool="bash", arguments="milk | tail").outcome == "success"
    assert classify_result(text, tool="bash", arguments="cat | tail").outcome == "success"
    assert hints()[0] == hint


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        pytest.param("no format", "not a Format", id="something else"),
        pytest.param(cow(name="git"), "there is a format git already", id="a name that is taken"),
        pytest.param(cow(closings=("(",)), "missing )", id="a pattern that is not valid"),
        pytest.param(cow(stacks=("(x)",)), "has a group", id="a pattern with a group"),
        pytest.param(cow(hints=(Hint("x", ("(?:x)",), ("x", "x")),)), "a sign of a hint", id="any character"),
    ],
)
def test_a_faulty_format_is_left_out(installed, caplog, found, fault):
    """A warning says once why, and all other formats work."""
    installed(found)
    assert extract(RawError(text="KeyError: 'x'")).format == "plain"
    assert extract(RawError(text="KeyError: 'y'")).format == "plain"
    assert [
        fault in record.getMessage() or __import__("re").search(fault, record.getMessage()) is not None
        for record in caplog.records
    ] == [True]


@pytest.mark.parametrize("read", [lambda _: 1 / 0, lambda _: "moo"], ids=["raises", "returns something else"])
def test_a_faulty_reader_is_not_asked_again(installed, caplog, read):
    """A warning says so once."""
    installed(cow(read=read))
    assert [extract(RawError(text=text)).format for text in ("KeyError: 'x'", "KeyError: 'y'")] == ["plain", "plain"]
    assert [record.getMessage() for record in caplog.records] == ["the format cow is not used any more"]


# --- whatever a format finds -----------------------------------------------------------------------------------------


def test_table_without_last_resort(monkeypatch):
    """Whatever the table holds, there are facts."""
    monkeypatch.setattr(recognition, "prefilters", tuple)
    assert extract(RawError(text="boom")).cause == "boom"


def test_a_cause_that_is_cut_off():
    """Whatever a format finds, its facts have a cause."""
    facts = extract(RawError(text="=== RUN   TestItems\n--- FAIL: TestItems (0.00s)\n    items_test.go:13:\nFAIL"))
    assert (facts.format, str(facts.location), facts.cause) == ("gotest", "items_test.go:13", "no message")


def test_a_type_that_is_garbled(monkeypatch):
    """A type is one line of bounded length, whatever a format has taken for one."""
    row = cow(read=lambda _: Facts(type="moo\n" * 99, cause="no milk"))
    monkeypatch.setattr(recognition, "prefilters", lambda: (Prefilter([row], [row.markers]),))
    found = extract(RawError(text="x")).type
    assert found.startswith("moo moo moo")
    assert len(found) <= 200
