"""A result that was read before and says the same is a line that names the first."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.messages import Part
from otel_errcompact_context.window.layers import Edited, Workspace
from otel_errcompact_context.window.layers.carrying.actions import find_actions
from otel_errcompact_context.window.layers.carrying.files import find_files
from otel_errcompact_context.window.layers.micro import micro
from otel_errcompact_context.window.layers.repeats import read_repeated, repeats
from otel_errcompact_context.window.pairs import pair_calls
from otel_errcompact_context.window.window import ContextWindow

CODE = "\n".join(f"def function_{number}(): return {number}" for number in range(40))
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def read(*steps: tuple[str, str, Any]) -> list[Any]:
    """A list of OpenAI chat in which tools were called with a path and gave a result."""
    messages: list[Any] = [{"role": "user", "content": "Mend the parser."}]
    for number, (tool, path, result) in enumerate(steps):
        asked = {"name": tool, "arguments": json.dumps({"path": path})}
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": asked}],
            },
            {"role": "tool", "tool_call_id": f"c{number}", "content": result},
        ]
    return messages


def workspace(archive: MemoryArchive | None = None, **options: Any) -> Workspace:
    return Workspace(
        archive=archive or MemoryArchive(),
        options=ContextOptions(**options),
        count_tokens=estimate_tokens,
        target_tokens=0,
    )


def run(messages: list[Any], space: Workspace | None = None) -> tuple[Edited, list[str]]:
    """What became of the list, and the texts of its results."""
    edited = repeats(providers.read_list(messages, estimate_tokens, "openai-chat"), space or workspace())
    made = edited.conversation.messages
    return edited, [part.text for message in made for part in message.parts if part.kind == "result"]


def test_a_repeated_read_names_the_first() -> None:
    """The first stays whole; the line says which call it was, and where the whole is kept."""
    archive = MemoryArchive()
    messages = read(("read", "src/a.py", CODE), ("read", "src/b.py", "other"), ("read", "src/a.py", CODE))
    edited, texts = run(messages, workspace(archive))
    assert texts == [
        CODE,
        "other",
        "[errcompact repeats: unchanged: the result of src/a.py above, 285 tokens; whole: memory:00000001]",
    ]
    assert archive.read("memory:00000001") == CODE
    (cut,) = edited.cuts
    assert (cut.message, cut.tool, cut.call_id) == (6, "read", "c2")
    assert repeats(edited.conversation, workspace(archive)).conversation is edited.conversation


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([("read", "a.py", CODE), ("read", "a.py", CODE + "\nx = 1")], id="it has changed"),
        pytest.param([("read", "a.py", "short"), ("read", "a.py", "short")], id="it is short"),
        pytest.param([("read", "a.py", CODE), ("fetch", "a.py", CODE)], id="another tool"),
        pytest.param([("read", "a.py", CODE)], id="it is the first"),
        pytest.param([("read", "a.py", CODE), ("read", "a.py", CODE), ("read", "b.py", "other")], id="it was read"),
        pytest.param(
            [("run", "a.py", f"{CODE}\nTraceback (most recent call last):\n  File 'a.py', line 1\nValueError: x")] * 2,
            id="a failure",
        ),
        pytest.param(
            [("see", "a.png", [{"type": "text", "text": CODE}, IMAGE])] * 2, id="a picture"
        ),
    ],
)  # fmt: skip
def test_these_stay(steps: Any) -> None:
    """Nothing is cut, and the list is the same object."""
    conversation = providers.read_list(read(*steps), estimate_tokens, "openai-chat")
    assert repeats(conversation, workspace()).conversation is conversation


def test_of_parallel_reads_the_first_stays() -> None:
    """Both are new: the later one names the earlier one."""
    asked = {"name": "read", "arguments": '{"path": "a.py"}'}
    calls = [{"id": name, "type": "function", "function": asked} for name in ("c0", "c1")]
    results = [{"role": "tool", "tool_call_id": name, "content": CODE} for name in ("c0", "c1")]
    _, texts = run([{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": calls}, *results])
    assert texts[0] == CODE
    assert texts[1].startswith("[errcompact repeats: unchanged: the result of a.py above, ")


class Archive(MemoryArchive):
    """Has a place so long that a line costs more than a result, or no room."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def keep(self, text: str) -> str:
        if not self.place:
            raise OSError(28, "No space left on device")
        return self.place


def test_a_line_that_would_be_longer_is_not_written() -> None:
    """Nothing grows."""
    edited, texts = run(read(*[("read", "a.py", CODE)] * 2), workspace(Archive("p" * 4_000)))
    assert texts == [CODE, CODE]
    assert edited.cuts == ()


def test_what_cannot_be_kept_stays() -> None:
    """And the note says why."""
    edited, texts = run(read(*[("read", "a.py", CODE)] * 2), workspace(Archive("")))
    assert texts == [CODE, CODE]
    assert "No space left on device" in edited.problem


def test_what_a_new_line_names_is_not_cut_as_old() -> None:
    """The model has just asked for it: it would read a line that leads to a line."""
    archive = MemoryArchive()
    steps = [("read", "a.py", CODE), *[("read", f"{n}.py", f"{n} {CODE}") for n in range(3)], ("read", "a.py", CODE)]
    edited, _ = run(read(*steps), workspace(archive))
    after = micro(edited.conversation, workspace(archive, keep_results=2)).conversation
    texts = [part.text for message in after.messages for part in message.parts if part.kind == "result"]
    assert texts[0] == CODE
    assert [text.startswith("[errcompact micro: ") for text in texts] == [False, True, True, False, False]
    assert read_repeated([Part("result", texts[-1], 1), Part("result", CODE, 1)], archive) == {CODE}
    assert read_repeated([Part("result", texts[-1], 1)], MemoryArchive()) == set()


def test_a_file_whose_newest_reading_is_a_line_is_put_back() -> None:
    """Its text goes with the first reading."""
    archive = MemoryArchive()
    edited, _ = run(read(("read", "a.py", CODE), ("read", "b.py", "x"), ("read", "a.py", CODE)), workspace(archive))
    messages = edited.conversation.messages
    actions = {spot: find_actions(call) for spot, call in pair_calls(messages).items()}
    files = find_files(messages, 1, 5, actions, frozenset(), archive)
    assert [file.path for file in files] == ["b.py", "a.py"]


# The provider's cache, and old errors.


class Clock:
    """Says what time it is."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> int:
        return int(self.seconds * 1e9)


def notes(one: ContextWindow, messages: list[Any], session: str = "a") -> dict[str, tuple[str, int]]:
    """Of each layer that ran the reason and its cuts."""
    return {note.layer: (note.reason, len(note.cuts)) for note in one.compact(messages, session=session).notes}


def test_old_results_go_when_the_cache_has_expired_anyway() -> None:
    """After a pause, of this session alone, and all of them, whatever the list costs."""
    clock = Clock()
    options = ContextOptions(cache_seconds=300, keep_results=1)
    one = ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_tokens, observers=(), clock=clock)
    messages = read(*[("read", f"{number}.py", f"{number} {CODE}") for number in range(4)])
    assert "micro" not in notes(one, messages)
    clock.seconds = 299
    assert "micro" not in notes(one, messages)
    clock.seconds = 300 + 299
    assert "micro" not in notes(one, messages, session="b")
    assert notes(one, messages)["micro"] == ("cache_expired", 3)
    assert "micro" not in notes(one, messages)


def test_without_the_option_no_time_counts() -> None:
    """A cache may live as long as it likes."""
    clock = Clock()
    one = ContextWindow(archive=MemoryArchive(), count_tokens=estimate_tokens, observers=(), clock=clock)
    messages = read(*[("read", f"{number}.py", f"{number} {CODE}") for number in range(9)])
    notes(one, messages)
    clock.seconds = 1e6
    assert "micro" not in notes(one, messages)


@pytest.mark.parametrize(
    ("reason", "window", "resolved"),
    [
        pytest.param("over_trigger", 200_000, 0, id="below the trigger: not worth a cache"),
        pytest.param("asked", 200_000, 6, id="asked"),
        pytest.param("over_trigger", 2_000, 6, id="a small window: as many as are worth it, by the budget"),
    ],
)
def test_resolved_errors_become_one_line_when_that_is_worth_it(reason: Any, window: int, resolved: int) -> None:
    """Not only from 2,000 tokens on."""
    frames = "".join(f'  File "src/module_{n}.py", line {n}, in function_{n}\n    call_{n}()\n' for n in range(7))
    error = f"Traceback (most recent call last):\n{frames}"
    failed = [("check", f"{number}.py", f"{error}Error{number}: broken by {number}") for number in range(6)]
    messages = read(*failed, *[("check", f"{number}.py", "fine") for number in range(6)], ("read", "a.py", "text"))
    options = ContextOptions(window_tokens=window)
    one = ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_tokens, observers=())
    texts = [message["content"] or "" for message in one.compact(messages, reason=reason).messages]  # type: ignore[index]
    assert sum(", resolved: " in text for text in texts) == resolved
