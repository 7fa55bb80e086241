"""The tools by which a model reads what was cut, and asks for compaction."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.window.tools import ContextTools
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.conversations import place_of

ADVICE = "A place is what a marker names behind `whole:`; pass it letter by letter."


def window(**options: Any) -> ContextWindow:
    """A window whose tokens are characters."""
    return ContextWindow(ContextOptions(**options), archive=MemoryArchive(), count_tokens=len, observers=())


def turn(number: int, result: str, tool: str = "read") -> list[Any]:
    """A call and its result."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def test_each_format_has_both_tools_as_its_provider_takes_them() -> None:
    """The schema is the same; where it stands differs."""
    tools = ContextTools(window())
    mcp = tools.definitions()
    assert [list(one) for one in mcp] == [["name", "description", "inputSchema"]] * 2
    assert [one["name"] for one in mcp] == ["recall", "compact"]
    recall, compact = (one["inputSchema"] for one in mcp)
    assert (recall["type"], recall["required"]) == ("object", ["place"])
    kinds = {name: what["type"] for name, what in recall["properties"].items()}
    assert kinds == {
        "place": "string",
        "search": "string",
        "from_line": "integer",
        "to_line": "integer",
        "from_character": "integer",
        "to_character": "integer",
    }
    assert compact == {"type": "object", "properties": {}}
    said = [(one["name"], one["description"]) for one in mcp]
    assert tools.definitions("anthropic") == [
        {"name": name, "description": description, "input_schema": schema}
        for (name, description), schema in zip(said, (recall, compact), strict=True)
    ]
    functions = [
        {"name": name, "description": description, "parameters": schema}
        for (name, description), schema in zip(said, (recall, compact), strict=True)
    ]
    assert tools.definitions("openai-chat") == [{"type": "function", "function": one} for one in functions]
    assert tools.definitions("openai-responses") == [{"type": "function", **one, "strict": False} for one in functions]


def test_gemini_has_one_entry_that_declares_both() -> None:
    """Its types are in capitals, and what takes nothing has no parameters."""
    (entry,) = ContextTools(window()).definitions("gemini")
    recall, compact = entry["function_declarations"]
    assert (recall["name"], recall["parameters"]["type"], recall["parameters"]["required"]) == (
        "recall",
        "OBJECT",
        ["place"],
    )
    assert {what["type"] for what in recall["parameters"]["properties"].values()} == {"STRING", "INTEGER"}
    assert list(compact) == ["name", "description"]


def test_what_is_handed_out_belongs_to_whoever_asked() -> None:
    """A change of one definition changes no other."""
    tools = ContextTools(window())
    tools.definitions()[0]["inputSchema"]["properties"]["place"]["type"] = "changed"
    assert tools.definitions()[0]["inputSchema"]["properties"]["place"]["type"] == "string"


def test_an_unknown_format_is_refused() -> None:
    """With those that there are."""
    with pytest.raises(
        ConfigurationError, match="'cohere' is no format of tools; choose one of anthropic, gemini, openai-chat"
    ):
        ContextTools(window()).definitions("cohere")  # type: ignore[arg-type]


def test_names_can_have_a_prefix() -> None:
    """Where the agent has a tool of the same name; the texts name them as they are."""
    tools = ContextTools(window(), prefix="context_")
    assert tools.names == ("context_recall", "context_compact")
    recall, compact = tools.definitions("anthropic")
    assert (recall["name"], compact["name"]) == tools.names
    assert "`context_recall`" in compact["description"]
    assert "`context_recall`" in tools.handle("context_compact")
    with pytest.raises(ConfigurationError, match="'recall' is none of context_recall, context_compact"):
        tools.handle("recall")


def test_frameworks_get_functions_with_types_and_words() -> None:
    """They make the schema of these."""
    recall, compact = ContextTools(window()).functions
    assert list(inspect.signature(recall).parameters) == [
        "place",
        "search",
        "from_line",
        "to_line",
        "from_character",
        "to_character",
    ]
    assert "place: What stands behind `whole:`" in (recall.__doc__ or "")
    assert not inspect.signature(compact).parameters
    assert compact.__doc__


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"place": "{place}", "from_line": 2, "to_line": 2}, id="as they should be"),
        pytest.param({"place": "{place}", "from_line": "2", "to_line": " 2 "}, id="numbers as texts"),
        pytest.param({"place": "{place}", "from_line": 2.0, "to_line": 2.0, "search": None}, id="floats, and null"),
    ],
)
def test_a_call_reads_what_a_marker_names(arguments: dict[str, object]) -> None:
    """Arguments as the model writes them, read or as JSON."""
    tools = ContextTools(window())
    place = tools.window.archive.keep("one\ntwo\nthree\n")
    given = {**arguments, "place": place}
    answer = (
        "[errcompact recall: line 2, characters 5 to 8, of 3 lines, 14 characters; next: from_line=3; "
        f"whole: {place}]\ntwo\n"
    )
    assert tools.handle("recall", given) == answer
    assert tools.handle("recall", json.dumps(given)) == answer
    assert tools.recall(place, from_line=2, to_line=2) == answer


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(None, "the arguments are no JSON object", id="nothing"),
        pytest.param("{", "the arguments are no JSON object", id="half of JSON"),
        pytest.param("[" * 100_000, "the arguments are no JSON object", id="deep"),
        pytest.param("[]", "the arguments are no JSON object", id="a list"),
        pytest.param({}, "place is missing: pass what stands behind `whole:` in a marker", id="no place"),
        pytest.param(
            {"place": " "}, "place is missing: pass what stands behind `whole:` in a marker", id="an empty place"
        ),
        pytest.param({"place": 7}, "place is missing: pass what stands behind `whole:` in a marker", id="no text"),
        pytest.param({"place": "x", "search": 7}, "search is no text", id="no text to search"),
        pytest.param({"place": "x", "from_line": "two"}, "from_line is no whole number: 'two'", id="no number"),
        pytest.param({"place": "x", "to_line": 1.5}, "to_line is no whole number: 1.5", id="half a line"),
        pytest.param({"place": "x", "to_line": True}, "to_line is no whole number: True", id="a truth"),
        pytest.param({"place": "x", "to_line": [1]}, "to_line is no whole number: [1]", id="a list of numbers"),
        pytest.param(
            {"place": "x", "from_line": "9" * 5_000}, f"from_line is no whole number: '{'9' * 96}...", id="too long"
        ),
        pytest.param(
            {"place": "x", "path": "y"},
            "no argument is named path; there are place, search, from_line, to_line, from_character, to_character",
            id="an unknown argument",
        ),
    ],
)
def test_what_is_wrong_with_the_arguments_is_answered(arguments: Any, problem: str) -> None:
    """A model's mistake is no exception of the application."""
    assert ContextTools(window()).handle("recall", arguments) == f"recall: {problem}"


def test_an_unknown_place_is_answered() -> None:
    """In a sentence that says where places stand."""
    answer = ContextTools(window()).recall("memory:00000001")
    assert answer == f"recall: nothing is kept at 'memory:00000001'. {ADVICE}"


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        pytest.param({}, 5_000, id="the default"),
        pytest.param({"recall_tokens": 300}, 300, id="the option"),
        pytest.param({"window_tokens": 8_000}, 1_500, id="a quarter of the room of a small window"),
        pytest.param({"window_tokens": 1}, 1, id="the least"),
    ],
)
def test_what_is_recalled_is_bounded(options: dict[str, int], tokens: int) -> None:
    """Or one call would fill the window again."""
    tools = ContextTools(window(**options))
    place = tools.window.archive.keep("x" * 100_000)
    assert tools.recall(place).partition("\n")[2] == "x" * tokens


def test_what_was_recalled_is_not_archived_again() -> None:
    """When it is cut in its turn, the line names the first place: no archive of recalls of recalls."""
    one = window(window_tokens=12_000, keep_results=1)
    tools = ContextTools(one)
    whole = "".join(f"line {number}\n" for number in range(2_000))
    place = one.archive.keep(whole)
    messages = [{"role": "user", "content": "task"}]
    for number in range(5):
        messages += turn(number, tools.recall(place, from_line=200 * number + 1), "recall")
    compaction = one.compact(messages, format="openai-chat")
    cut = [message["content"] for message in compaction.messages if message["role"] == "tool"]  # type: ignore[index,call-overload]
    lines = [text for text in cut if text.startswith("[errcompact micro: ")]
    assert len(lines) >= 2
    assert {place_of(line) for line in lines} == {place}


def test_a_failure_that_is_recalled_is_not_compacted_again() -> None:
    """The model has asked for the whole of it."""
    one = window()
    trace = "Traceback (most recent call last):\n" + '  File "a.py", line 1, in f\n    f()\n' * 60 + "KeyError: 'x'\n"
    messages = [{"role": "user", "content": "task"}, *turn(0, trace, "run")]
    first = one.compact(messages, format="openai-chat")
    digest = first.messages[-1]["content"]  # type: ignore[index,call-overload]
    assert len(digest) < len(trace)
    found = marker_of(digest)
    assert found is not None
    answer = ContextTools(one).recall(found.place)
    assert answer.endswith(f"\n{trace}")
    second = one.compact([*first.messages, *turn(1, answer, "recall")], format="openai-chat")
    assert second.messages[-1]["content"] == answer  # type: ignore[index,call-overload]


def test_compaction_that_the_model_asks_for_happens_before_its_next_turn() -> None:
    """Below the trigger, once, and for its own conversation alone."""
    one = window(window_tokens=20_000)
    tools = ContextTools(one, session="a")
    messages = [{"role": "user", "content": "task"}]
    for number in range(10):
        messages += turn(number, f"{number} " + "x" * 1_200)
    assert one.compact(messages, session="a", format="openai-chat").messages == messages
    said = tools.handle("compact", "{}")
    assert said == (
        "The conversation is compacted before your next turn, as far as that saves something. What is cut stays "
        "readable with `recall`."
    )
    assert one.compact(messages, session="b", format="openai-chat").messages == messages
    assert one.compact([], session="a").notes == ()
    asked = one.compact(messages, session="a", format="openai-chat")
    assert asked.tokens_after < asked.tokens_before
    assert "asked" in {note.reason for note in asked.notes}
    assert one.compact(messages, session="a", format="openai-chat").messages == messages


async def test_the_guard_honours_what_the_model_asks_for() -> None:
    """It compacts before each call in any case."""
    one = window(window_tokens=20_000)
    guard = OverflowGuard(one)
    messages = [{"role": "user", "content": "task"}]
    for number in range(10):
        messages += turn(number, f"{number} " + "x" * 1_200)
    ContextTools(one, session="a").compact()
    sent = guard.call(lambda _: "fine", messages, session="a", format="openai-chat")
    assert "asked" in {note.reason for note in sent.compactions[0].notes}
    ContextTools(one, session="a").compact()
    again = await guard.acall(lambda _: "fine", messages, session="a", format="openai-chat")
    assert again.compactions[0].tokens_after < again.compactions[0].tokens_before


def test_a_refusal_outdoes_what_the_model_asks_for() -> None:
    """It cuts further, and nothing is left to ask for."""
    one = window(window_tokens=20_000)
    one.request_compaction()
    messages = [{"role": "user", "content": "task"}, *turn(0, "x" * 5_000)]
    compaction = one.compact(messages, reason="overflow", format="openai-chat")
    assert "asked" not in {note.reason for note in compaction.notes}
    assert "overflow" in {note.reason for note in compaction.notes}
    assert {note.reason for note in one.compact(messages, format="openai-chat").notes} == {"always"}
