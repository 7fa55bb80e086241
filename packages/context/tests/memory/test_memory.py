"""A window remembers what it has read; what it returns is what a window without memory returns."""

from __future__ import annotations

import copy
import gc
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, PrivateAttr, computed_field

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact.exceptions import ErrcompactError
from otel_errcompact_context.memory import memory as memory_module
from otel_errcompact_context.memory.archive import FolderArchive, MemoryArchive
from otel_errcompact_context.memory.memory import Memories, Memory
from otel_errcompact_context.memory.witness import MAX_CONTAINERS, Witness
from otel_errcompact_context.providers import plain
from otel_errcompact_context.window.pairs import pair_list, pairing_of
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.conversations import (
    FORMATS,
    LISTS_PER_LAW,
    broken_conversations,
    conversations,
    long_conversation,
    of_any_format,
)

if TYPE_CHECKING:
    from pathlib import Path

    from otel_errcompact_context.messages import FormatName
    from otel_errcompact_context.notes import Compaction


class ByContent(MemoryArchive):
    """An archive whose places say what lies there, whenever it was kept."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, str] = {}

    def keep(self, text: str) -> str:
        place = f"kept:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        self.kept[place] = text
        return place

    def read(self, place: str) -> str:
        if place not in self.kept:
            raise FileNotFoundError(place)
        return self.kept[place]


SMALL = ContextOptions(
    window_tokens=4_000, reserve_tokens=500, result_budget_tokens=600, preview_tokens=40, snip_messages=12
)
WIDE = ContextOptions()


def window(options: ContextOptions = WIDE, archive: Any = None) -> ContextWindow:
    """A window that counts by estimate, without observers."""
    return ContextWindow(
        options, archive=archive or ByContent(), count_tokens=estimate_mixed_tokens, observers=(), clock=lambda: 0
    )


def describe(compaction: Compaction) -> str:
    """All of a compaction but the time it took."""
    notes = [
        (
            note.layer,
            note.reason,
            note.tokens_before,
            note.tokens_after,
            note.invalidated_tokens,
            note.cuts,
            note.problem,
        )
        for note in compaction.notes
    ]
    messages = json.dumps(compaction.messages, default=plain)
    return f"{messages} {notes} {compaction.problems} {compaction.opaque} {compaction.tokens_before}"


def outcome(one: ContextWindow, messages: list[Any], name: FormatName | None, *, is_asked: bool = False) -> str:
    """What a window makes of a list, or why it refuses it."""
    try:
        return describe(one.compact(messages, format=name, reason="asked" if is_asked else "over_trigger"))
    except ErrcompactError as error:
        return f"{type(error).__name__}: {error}"


def containers(value: Any) -> list[Any]:
    """All dicts and lists in a value."""
    if not isinstance(value, (dict, list)):
        return []
    children = list(cast("dict[str, Any]", value).values()) if isinstance(value, dict) else cast("list[Any]", value)
    return [value, *(one for child in children for one in containers(child))]


VALUES = st.sampled_from(
    ["", "more", "KeyError: 'sku'\n" * 40, 0, 1, True, False, 1.0, None, "tool_result", {"a": 1}, []]
)


def change(data: st.DataObject, messages: list[Any]) -> None:
    """Change something in a list, at any depth."""
    one: Any = data.draw(st.sampled_from(containers(messages)))
    if isinstance(one, dict):
        change_fields(data, cast("dict[str, Any]", one))
    else:
        change_items(data, one, may_be_anything=one is not messages)


def change_fields(data: st.DataObject, one: dict[str, Any]) -> None:
    """Change a field: its value, its type, its place, or whether it is there."""
    name = data.draw(st.sampled_from([*sorted(one), "new"]))
    match data.draw(st.sampled_from(["set", "delete", "reorder", "equal", "longer", "same type"])):
        case "set":
            one[name] = data.draw(VALUES)
        case "delete":
            one.pop(name, None)
        case "reorder" if name in one:
            one[name] = one.pop(name)
        case "longer" if isinstance(one.get(name), str):
            one[name] += data.draw(st.sampled_from(["!", " and more", "\nError: boom" * 60]))
        case "equal" if name in one:
            one[name] = copy.deepcopy(one[name])
        case _ if isinstance(one.get(name), (bool, int, float)):
            one[name] = next(kind(one[name]) for kind in (bool, float, int) if kind is not type(one[name]))
        case _:
            pass


def change_items(data: st.DataObject, one: list[Any], *, may_be_anything: bool) -> None:
    """Add an item, take one out, or put its equal in its place."""
    place = data.draw(st.integers(0, len(one)))
    match data.draw(st.sampled_from(["append", "delete", "double", "replace"])):
        case "append" if may_be_anything:
            one.insert(place, data.draw(VALUES))
        case "delete" if len(one) > 1:
            del one[place : place + 1]
        case "double":
            one[place:place] = copy.deepcopy(one[place : place + 1])
        case _ if place < len(one):
            one[place] = copy.deepcopy(one[place])
        case _:
            pass


@settings(max_examples=LISTS_PER_LAW)
@given(st.data(), of_any_format(conversations) | of_any_format(broken_conversations), st.sampled_from([SMALL, WIDE]))
def test_what_is_remembered_changes_nothing(
    data: st.DataObject, case: tuple[FormatName, list[Any]], options: ContextOptions
) -> None:
    """Whatever was changed in place between two calls, by whomever, in whichever format."""
    name, every = case
    named = name if data.draw(st.booleans()) else None
    archive = ByContent()
    remembering = window(options, archive)
    messages = every[: data.draw(st.integers(1, max(1, len(every))))]
    rest = every[len(messages) :]
    for _ in range(data.draw(st.integers(2, 5))):
        match data.draw(st.sampled_from(["nothing", "append", "append", "change", "change", "new list", "copy"])):
            case "append" if rest:
                messages.append(rest.pop(0))
            case "change" if messages:
                change(data, messages)
            case "new list":
                messages = list(messages)
            case "copy":
                messages = copy.deepcopy(messages)
            case _:
                pass
        is_asked = data.draw(st.sampled_from([False, False, False, True]))
        expected = outcome(window(options, archive), messages, named, is_asked=is_asked)
        assert outcome(remembering, messages, named, is_asked=is_asked) == expected


@settings(max_examples=LISTS_PER_LAW)
@given(st.data(), of_any_format(conversations))
def test_a_list_that_grows_by_what_was_sent_is_compacted_as_ever(
    data: st.DataObject, case: tuple[FormatName, list[Any]]
) -> None:
    """As an agent's loop does: it continues with the compacted list."""
    name, rest = case
    archive = ByContent()
    remembering = window(SMALL, archive)
    messages: list[Any] = []
    while rest:
        count = data.draw(st.integers(1, 4))
        messages, rest = [*messages, *rest[:count]], rest[count:]
        expected = outcome(window(SMALL, archive), messages, name)
        compaction = remembering.compact(messages, format=name)
        assert describe(compaction) == expected
        messages = compaction.messages


@pytest.mark.parametrize("name", FORMATS)
def test_a_long_list_that_grows_is_compacted_as_ever(name: FormatName) -> None:
    """With failures that are repeated, resolved and pruned on the way, and over the trigger at its end."""
    every = long_conversation(name, messages=400)
    options = ContextOptions(window_tokens=40_000)
    archive = ByContent()
    remembering = window(options, archive)
    for end in (100, 101, 103, 200, 200, 150, 220, 399, 400):
        expected = outcome(window(options, archive), every[:end], name)
        assert outcome(remembering, every[:end], name) == expected


class Counted:
    """Counts tokens, and how often it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return estimate_mixed_tokens(text)


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_that_is_unchanged_is_read_again(name: FormatName) -> None:
    """Of a list that has grown by a message only that message is counted."""
    messages = long_conversation(name, messages=300)
    counter = Counted()
    one = ContextWindow(WIDE, archive=ByContent(), count_tokens=counter, observers=())
    first = describe(one.compact(messages))
    counter.texts.clear()
    assert describe(one.compact(list(messages))) == first
    looked_at_again = len(counter.texts)  # by layers, which look at the newest results
    assert looked_at_again <= 2
    counter.texts.clear()
    messages += long_conversation(name, messages=301)[-1:]
    one.compact(messages)
    assert 1 <= len(counter.texts) <= looked_at_again + 2


def test_the_calls_of_a_list_that_grows_are_paired_on() -> None:
    """Each message once; a list that is shorter again is paired from its beginning."""
    messages, memory = long_conversation("anthropic", messages=120), Memory()
    first = pairing_of(memory.read_list(messages[:80], estimate_mixed_tokens))
    whole = memory.read_list(messages, estimate_mixed_tokens)
    assert pairing_of(whole) is first
    assert first.by_result == pair_list(whole.messages).by_result
    shorter = memory.read_list(messages[:50], estimate_mixed_tokens)
    assert pairing_of(shorter).by_result == pair_list(shorter.messages).by_result


def test_one_change_costs_no_more_than_what_follows_it() -> None:
    """What stands well before a changed message is not read again."""
    messages = long_conversation("openai-chat", messages=300)
    counter = Counted()
    one = ContextWindow(WIDE, archive=ByContent(), count_tokens=counter, observers=())
    one.compact(messages)
    counter.texts.clear()
    messages[-1]["content"] += " and more"
    one.compact(messages)
    assert messages[-1]["content"] in counter.texts
    assert messages[0]["content"] not in counter.texts
    assert len(counter.texts) < 400


def test_what_is_returned_is_the_callers_to_change() -> None:
    """A digest that the caller has changed in the list that was sent comes back as it was."""
    messages = long_conversation("anthropic", messages=100)
    one = window()
    first = one.compact(messages)
    expected = describe(first)
    for message, given_ in zip(first.messages, messages, strict=True):
        if message is not given_:
            cast("dict[str, Any]", message).clear()
    assert describe(one.compact(messages)) == expected


def test_messages_that_are_gone_are_not_taken_for_new_ones() -> None:
    """New messages at the addresses of others are read, since those are held as long as they are remembered."""
    one = window()
    for number in range(50):
        messages = [{"role": "user", "content": f"task {number}"}, {"role": "assistant", "content": f"done {number}"}]
        assert describe(one.compact(messages)) == describe(window().compact(messages))
        del messages
        gc.collect()


# What providers' SDKs hand out.


class Block(BaseModel):
    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Any = None


class Checked(Block):
    model_config = ConfigDict(extra="allow", validate_assignment=True)


def with_objects(kind: type[Block]) -> list[Any]:
    """A list with the SDK's objects in it."""
    return [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                kind(type="text", text="let me see"),
                kind(type="tool_use", id="c1", name="read", input={"path": "a", "options": Block(type="x", text="y")}),
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "all of it"}]},
    ]


def _set_text(messages: list[Any]) -> None:
    messages[1]["content"][0].text = "changed"


def _set_input(messages: list[Any]) -> None:
    messages[1]["content"][1].input["path"] = "b"


def _set_extra(messages: list[Any]) -> None:
    messages[1]["content"][1].further = "more"


def _set_nested(messages: list[Any]) -> None:
    messages[1]["content"][1].input["options"].text = "z"


def _set_what_was_unset(messages: list[Any]) -> None:
    # The same value, which is written from now on.
    messages[1]["content"][1].input["options"].name = None


@pytest.mark.parametrize("kind", [Block, Checked])
@pytest.mark.parametrize("edit", [_set_text, _set_input, _set_extra, _set_nested, _set_what_was_unset])
def test_an_object_of_an_sdk_that_was_changed_is_read_again(kind: type[Block], edit: Any) -> None:
    """A field, one that was not declared, one further inside, one that is sent only once it is set."""
    messages = with_objects(kind)
    one = window()
    for _ in range(2):
        assert outcome(one, messages, None) == outcome(window(), messages, None)
    edit(messages)
    for _ in range(2):
        assert outcome(one, messages, None) == outcome(window(), messages, None)


def test_objects_that_have_not_changed_are_not_read_again() -> None:
    """They are watched like dicts."""
    counter = Counted()
    one = ContextWindow(WIDE, archive=ByContent(), count_tokens=counter, observers=())
    messages = with_objects(Checked)
    one.compact(messages)
    counter.texts.clear()
    one.compact(messages)
    assert counter.texts == []


class Computed(BaseModel):
    type: str = "text"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def text(self) -> str:
        return "now"


class Hidden(BaseModel):
    type: str = "text"
    _state: int = PrivateAttr(default=1)


HUGE: list[list[str]] = [[]] * (MAX_CONTAINERS + 1)
STRANGE: list[Any] = [Computed(), Hidden(), object(), bytearray(b"x"), {1: "a"}, {"a": {2}}, HUGE]


@pytest.mark.parametrize(
    "strange",
    STRANGE,
    ids=["computed", "private", "object", "bytes", "keys", "set", "huge"],
)
def test_what_may_change_unseen_is_read_each_time(strange: Any) -> None:
    """It is not added, and what stands before it remains watched."""
    witness = Witness()
    assert witness.add_messages([{"role": "user", "content": "go"}])
    assert not witness.add_messages([{"role": "user", "content": ["text", {"content": strange}]}])
    assert witness.is_unchanged()
    assert witness.characters == len("user") + len("go")


def test_a_message_that_cannot_be_watched_ends_what_is_remembered() -> None:
    """All from it on is read each time, and what is said of the list stays right."""
    messages = long_conversation("openai-chat", messages=120)
    messages[60]["strange"] = box = {"words": {1}}
    one = window()
    for words in ({1}, {2}, {2}):
        box["words"] = words
        assert outcome(one, messages, None) == outcome(window(), messages, None)


class Role(StrEnum):
    USER = "user"


def test_a_word_of_an_enumeration_cannot_change() -> None:
    """SDKs have some for roles and types."""
    messages = [{"role": Role.USER, "content": "go"}]
    witness = Witness()
    assert witness.add_messages(messages)
    assert witness.is_unchanged()
    messages[0]["role"] = "assistant"
    assert not witness.is_unchanged()


def test_of_a_list_that_cannot_be_watched_nothing_is_remembered() -> None:
    """Its first message may change unseen."""
    messages: list[Any] = [{"role": "user", "content": "go", "strange": {1}}]
    one = window()
    assert outcome(one, messages, None) == outcome(window(), messages, None)
    messages[0]["content"] = "changed"
    assert outcome(one, messages, None) == outcome(window(), messages, None)


def test_a_message_that_holds_itself_is_not_watched() -> None:
    """Or it would never be gone through."""
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    assert not Witness().add_messages([message])


# Bounds.


def remembered(count: int, text: str = "words") -> tuple[list[Any], Memory]:
    """A list of so many messages and the memory of it."""
    messages = [{"role": "user", "content": text} for _ in range(count)]
    memory = Memory()
    memory.read_list(messages, estimate_mixed_tokens, "openai-chat")
    return messages, memory


def test_the_oldest_memory_goes_beyond_the_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """All conversations together remember so many."""
    monkeypatch.setattr(memory_module, "MAX_MESSAGES", 5)
    memories = Memories()
    first, one = remembered(3)
    second, two = remembered(2)
    third, three = remembered(1)
    for memory in (one, two, three):
        memories.put_memory("chat", memory)
    assert memories.take_memory("chat", first) is not one
    assert memories.take_memory("chat", second) is two
    assert memories.take_memory("chat", third) is three
    memories.put_memory("chat", one)
    assert memories.take_memory("chat", first) is one


def test_the_oldest_memory_goes_beyond_the_length_of_its_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that is larger than all may be is not kept at all."""
    monkeypatch.setattr(memory_module, "MAX_CHARACTERS", 100)
    memories = Memories()
    messages, memory = remembered(2, "x" * 60)
    memories.put_memory("chat", memory)
    assert memories.take_memory("chat", messages) is not memory


def test_a_memory_is_of_one_session_and_taken_once() -> None:
    """Two threads never change the same, and of two that bring one back the newer stays."""
    memories = Memories()
    messages, memory = remembered(2)
    memories.put_memory("chat", memory)
    assert memories.take_memory("other", messages) is not memory
    assert memories.take_memory("chat", messages) is memory
    assert memories.take_memory("chat", messages) is not memory
    other = Memory()
    other.read_list(messages, estimate_mixed_tokens, "openai-chat")
    memories.put_memory("chat", memory)
    memories.put_memory("chat", other)
    assert memories.take_memory("chat", messages) is other
    assert memories.take_memory("chat", messages) is not memory


def test_a_child_process_remembers_nothing() -> None:
    """Another thread may have held the lock at the fork."""
    memories = Memories()
    messages, memory = remembered(2)
    memories.put_memory("chat", memory)
    memories._forget_all()  # pyright: ignore[reportPrivateUsage]
    assert memories.take_memory("chat", messages) is not memory


def test_a_longer_list_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read as it would be without memory, each time."""
    monkeypatch.setattr(memory_module, "MAX_MESSAGES", 10)
    messages = long_conversation("openai-chat", messages=12)
    memory = Memory()
    memory.read_list(messages[:10], estimate_mixed_tokens)
    assert memory.size == 10
    assert len(memory.read_list(messages, estimate_mixed_tokens).messages) == 12
    assert memory.size == 0


def test_another_format_is_read_anew() -> None:
    """The same texts are a list of several formats."""
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]
    one = window()
    for name in (None, "anthropic", "openai-responses", "openai-chat", None):
        assert outcome(one, messages, name) == outcome(window(), messages, name)  # type: ignore[arg-type]


def test_a_local_shell_keeps_its_output() -> None:
    """Such an output names its item, and is found under its call's id however the list grows."""
    messages = [
        {"role": "user", "content": "go"},
        {"type": "local_shell_call", "id": "item", "call_id": "c1", "action": {"command": ["ls"]}},
        {"type": "local_shell_call_output", "id": "item", "output": "main.py"},
        {"role": "assistant", "content": "done"},
    ]
    one = window()
    for end in (1, 2, 3, 3, 4):
        assert outcome(one, messages[:end], "openai-responses") == outcome(window(), messages[:end], "openai-responses")
    assert "has no output" not in outcome(one, messages, "openai-responses")


def test_ids_that_are_used_again_name_each_its_own_tool() -> None:
    """A cut says which tool its call was of, not the last one with its id."""

    def step(tool: str) -> list[Any]:
        call = {"id": "c0", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        result = "Traceback (most recent call last):\n" + '  File "a.py", line 1, in f\n' * 70 + "KeyError: 'sku'"
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c0", "content": result},
        ]

    messages = [{"role": "user", "content": "go"}, *step("first")]
    one = window()
    tools: list[set[str]] = []
    for tool in ("second", "third"):
        compaction = one.compact(messages)
        assert describe(compaction) == describe(window().compact(messages))
        tools.append({cut.tool for note in compaction.notes for cut in note.cuts})
        messages += step(tool)
    assert tools == [{"first"}, {"first", "second"}]


# The archive.


def failing(count: int) -> list[Any]:
    """A list with so many failures that are kept in the archive."""
    messages: list[Any] = [{"role": "user", "content": "go"}]
    for number in range(count):
        frames = f'  File "a{number}.py", line 1, in f\n' * 70
        use = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": {"number": number}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": True}
        messages += [
            {"role": "assistant", "content": [use]},
            {
                "role": "user",
                "content": [{**result, "content": f"Traceback (most recent call last):\n{frames}E{number}Error: x"}],
            },
        ]
    return messages


def test_what_somebody_has_removed_or_changed_is_kept_again(tmp_path: Path) -> None:
    """A marker of the next compaction names a place that can be read."""
    archive = FolderArchive(tmp_path / "kept", max_days=30)
    one = window(archive=archive)
    messages = failing(5)
    places = [cut.place for note in one.compact(messages).notes for cut in note.cuts]
    texts = [archive.read(place) for place in places]
    expected = [describe(one.compact(messages)) for _ in range(3)][-1]
    files = sorted((tmp_path / "kept").iterdir())
    files[0].unlink()
    files[1].write_text("changed")
    assert describe(one.compact(messages)) == expected
    assert [archive.read(place) for place in places] == texts


def test_an_archive_that_refuses_what_it_has_lost_is_told_of() -> None:
    """What cannot be kept any more stays whole in the list, as without a memory."""

    class Full(ByContent):
        is_full = False

        def keep(self, text: str) -> str:
            if self.is_full:
                raise OSError(28, "No space left on device")
            return super().keep(text)

    archive = Full()
    one = window(archive=archive)
    messages = failing(5)
    assert any(note.cuts for note in one.compact(messages).notes)
    archive.is_full = True
    compaction = one.compact(messages)
    assert not any(note.cuts for note in compaction.notes)
    assert any("No space left" in note.problem for note in compaction.notes)
    assert describe(one.compact(messages)) == describe(compaction)


def test_texts_are_not_read_at_each_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were found whole and have not changed since are not opened."""
    archive = FolderArchive(tmp_path / "kept", max_days=30)
    one = window(archive=archive)
    messages = failing(5)
    for _ in range(3):
        one.compact(messages)
    opened: list[str] = []

    def open_(place: str) -> bytes:
        opened.append(place)
        return b""

    monkeypatch.setattr("otel_errcompact_context.memory.archive._read_content", open_)
    one.compact(messages)
    assert opened == []


# Threads.


def test_a_memory_that_was_put_back_is_not_used_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next thread has it."""
    put = Memories.put_memory

    def put_and_lose(memories: Memories, session: str, memory: Memory) -> None:
        put(memories, session, memory)
        for part in tuple(vars(memory)):
            monkeypatch.delattr(memory, part)

    monkeypatch.setattr(Memories, "put_memory", put_and_lose)
    assert window().compact(long_conversation("anthropic", messages=120)).problems == ()


def test_threads_compact_one_list_of_one_session() -> None:
    """Each gets what a window without memory returns."""
    messages = long_conversation("anthropic", messages=120)
    one = window()
    expected = {describe(window().compact(messages[:end])) for end in (100, 110, 120)}

    def compact(number: int) -> set[str]:
        return {describe(one.compact(messages[: (100, 110, 120)[(number + turn) % 3]])) for turn in range(6)}

    with ThreadPoolExecutor(12) as pool:
        for found in pool.map(compact, range(12)):
            assert found == expected
