"""
Message lists of all four providers, as they come about: one script of turns, told in each provider's own way.

`conversations(format)` are lists that the provider accepts, `broken_conversations(format)` are such lists after an
accident, and `long_conversation(format, messages=n)` is the same list every time, for benchmarks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from hypothesis import settings
from hypothesis import strategies as st

from otel_errcompact_context.memory.markers import marker_of
from otel_errcompact_context.messages import FormatName

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS: tuple[FormatName, ...] = get_args(FormatName)
LISTS_PER_LAW = max(10, settings().max_examples // 10)
"""Lists for each law: the suite must stay short, and `HYPOTHESIS_PROFILE=thorough` tries 200."""

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A whole picture, of one pixel."""


class Call(NamedTuple):
    """A call of a tool and its result."""

    tool: str = "read_file"
    arguments: dict[str, object] = {}  # noqa: RUF012 - never changed
    result: str = "1 passed"
    failed: bool = False
    with_image: bool = False


class Step(NamedTuple):
    """One answer of the model, and what its calls gave back."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    is_strange: bool = False
    """Whether it holds a block of a type that nobody knows."""


class Turn(NamedTuple):
    """What a user said, and all that the model did about it."""

    user: str
    steps: tuple[Step, ...] = ()
    with_image: bool = False
    is_strange: bool = False


def told(format: FormatName, turns: tuple[Turn, ...]) -> list[Any]:
    """Return the message list of a provider in which these turns were taken."""
    number = iter(range(1_000_000))
    return [message for turn in turns for message in _TELL[format](turn, number)]


def _anthropic(turn: Turn, number: Any) -> list[Any]:
    content: Any = turn.user
    if turn.with_image or turn.is_strange:
        content = [{"type": "text", "text": turn.user, "cache_control": {"type": "ephemeral"}}]
        content += [_anthropic_image()] if turn.with_image else []
        content += [{"type": "brand_new", "payload": {"depth": [1, None]}}] if turn.is_strange else []
    messages: list[Any] = [{"role": "user", "content": content}]
    for step in turn.steps:
        if not step.thinking and not step.calls and not step.is_strange:
            messages.append({"role": "assistant", "content": step.text})
            continue
        ids = [f"toolu_{next(number)}" for _ in step.calls]
        blocks: list[Any] = []
        if step.thinking:
            blocks.append({"type": "thinking", "thinking": step.thinking, "signature": f"sig-{next(number)}"})
        if step.is_strange:
            blocks.append({"type": "brand_new", "payload": "?"})
        if step.text or not (step.calls or step.is_strange):
            blocks.append({"type": "text", "text": step.text or "done"})
        for call, name in zip(step.calls, ids, strict=True):
            blocks.append({"type": "tool_use", "id": name, "name": call.tool, "input": call.arguments})
        messages.append({"role": "assistant", "content": blocks})
        results: list[Any] = []
        for call, name in zip(step.calls, ids, strict=True):
            said: Any = call.result
            if call.with_image:
                said = [{"type": "text", "text": call.result}, _anthropic_image()]
            result = {"type": "tool_result", "tool_use_id": name, "content": said}
            results.append({**result, "is_error": True} if call.failed else result)
        if results:
            messages.append({"role": "user", "content": results})
    return messages


def _anthropic_image() -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE}}


def _chat(turn: Turn, number: Any) -> list[Any]:
    content: Any = turn.user
    if turn.with_image or turn.is_strange:
        content = [{"type": "text", "text": turn.user}]
        content += [_chat_image()] if turn.with_image else []
        content += [{"type": "brand_new", "payload": {"depth": [1, None]}}] if turn.is_strange else []
    messages: list[Any] = [{"role": "user", "content": content}]
    for step in turn.steps:
        ids = [f"call_{next(number)}" for _ in step.calls]
        message: dict[str, Any] = {"role": "assistant", "content": step.text or (None if step.calls else "done")}
        if message["content"] is None and len(step.calls) % 2:
            del message["content"]  # as `model_dump(exclude_none=True)` leaves it out
        if step.thinking:
            message["reasoning_content"] = step.thinking
        if step.is_strange:
            message["brand_new"] = {"depth": [1, None]}
        if ids:
            message["tool_calls"] = [
                {"id": name, "type": "function", "function": {"name": call.tool, "arguments": _json(call.arguments)}}
                for call, name in zip(step.calls, ids, strict=True)
            ]
        messages.append(message)
        for call, name in zip(step.calls, ids, strict=True):
            said: Any = [{"type": "text", "text": call.result}, _chat_image()] if call.with_image else call.result
            messages.append({"role": "tool", "tool_call_id": name, "content": said})
    return messages


def _chat_image() -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}", "detail": "high"}}


def _responses(turn: Turn, number: Any) -> list[Any]:
    content: Any = turn.user
    if turn.with_image or turn.is_strange:
        content = [{"type": "input_text", "text": turn.user}]
        content += [_responses_image()] if turn.with_image else []
        content += [{"type": "brand_new", "payload": {"depth": [1, None]}}] if turn.is_strange else []
    items: list[Any] = [{"role": "user", "content": content}]
    for step in turn.steps:
        if step.thinking:
            summary = [{"type": "summary_text", "text": step.thinking}]
            items.append({"type": "reasoning", "id": f"rs_{next(number)}", "summary": summary})
        if step.is_strange:
            items.append({"type": "brand_new_call", "id": f"bn_{next(number)}", "status": "completed"})
        if step.text or not step.calls:
            text = {"type": "output_text", "text": step.text or "done", "annotations": []}
            items.append(
                {"type": "message", "id": f"msg_{next(number)}", "role": "assistant", "status": "completed",
                 "content": [text]},
            )  # fmt: skip
        ids = [f"call_{next(number)}" for _ in step.calls]
        for call, name in zip(step.calls, ids, strict=True):
            items.append(
                {"type": "function_call", "id": f"fc_{next(number)}", "call_id": name, "name": call.tool,
                 "arguments": _json(call.arguments), "status": "completed"},
            )  # fmt: skip
        for call, name in zip(step.calls, ids, strict=True):
            said: Any = call.result
            if call.with_image:
                said = [{"type": "input_text", "text": call.result}, _responses_image()]
            items.append({"type": "function_call_output", "call_id": name, "output": said})
    return items


def _responses_image() -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"}


def _gemini(turn: Turn, number: Any) -> list[Any]:
    snake = next(number) % 2 == 1
    """Both spellings are legal, and agents mix them."""
    parts: list[Any] = [{"text": turn.user}]
    if turn.with_image:
        parts.append(_gemini_image(snake=snake))
    if turn.is_strange:
        parts.append({"brandNew": {"depth": [1, None]}})
    contents: list[Any] = [{"role": "user", "parts": parts}]
    for step in turn.steps:
        parts = [{"text": step.thinking, "thought": True}] if step.thinking else []
        if step.is_strange:
            parts.append({"brandNew": {"depth": [1, None]}})
        if step.text or not step.calls:
            parts.append({"text": step.text or "done"})
        for call in step.calls:
            part = {"function_call" if snake else "functionCall": {"name": call.tool, "args": call.arguments}}
            parts.append({**part, "thought_signature" if snake else "thoughtSignature": f"c2ln{next(number)}"})
        contents.append({"role": "model", "parts": parts})
        parts = []
        for call in step.calls:
            response: dict[str, Any] = {"name": call.tool, "response": {"error": call.result}}
            if not call.failed:
                response["response"] = {"output": call.result, "exit_code": 0}
            if call.with_image:
                response["parts"] = [_gemini_image(snake=snake)]
            parts.append({"function_response" if snake else "functionResponse": response})
        if parts:
            contents.append({"role": "user", "parts": parts})
    return contents


def _gemini_image(*, snake: bool) -> dict[str, Any]:
    if snake:
        return {"inline_data": {"mime_type": "image/png", "data": IMAGE}}
    return {"inlineData": {"mimeType": "image/png", "data": IMAGE}}


def _json(arguments: dict[str, object]) -> str:
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


_TELL: dict[FormatName, Callable[[Turn, Any], list[Any]]] = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}

# Most of them are drawn from few: to make up a text costs more than all that is then done with it.
_TEXTS = (
    "ok", "Grüße, 世界 👋🏽", '{"not": "json', "\x00\u202e<|end|>", "Traceback:\n  boom", "- 1\r\n- 2",
    "\n".join(f"{number}: a long line of a log file" for number in range(200)), "x" * 5_000,
)  # fmt: skip
TEXTS = (
    st.sampled_from(_TEXTS)
    | st.sampled_from(_TEXTS)
    | st.text(min_size=1, max_size=20).filter(lambda text: not text.isspace())
)
"""Texts short and long, of any script; none is empty."""

_ARGUMENTS = st.sampled_from(
    [
        {},
        {"path": "/srv/app/main.py"},
        {"n": -1, "deep": {"list": [None, True, 1.5, "ü"], "": {}}},
        {"text": "x" * 3_000},
    ]
) | st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=10), max_size=2)
_CALLS = st.builds(
    Call,
    tool=st.sampled_from(["read_file", "run_tests", "write_file", "search"]),
    arguments=_ARGUMENTS,
    result=st.just("") | TEXTS,
    failed=st.booleans(),
    with_image=st.sampled_from([False, False, False, True]),
)
_RARELY = st.sampled_from([False, False, False, True])
_NO_TEXT = st.just("")


def _steps(*, calls: bool) -> st.SearchStrategy[Step]:
    return st.builds(
        Step,
        text=_NO_TEXT | TEXTS if calls else TEXTS,
        thinking=_NO_TEXT | TEXTS,
        calls=st.lists(_CALLS, min_size=1, max_size=3).map(tuple) if calls else st.just(()),
        is_strange=_RARELY,
    )


def _turns(*, is_last: bool) -> st.SearchStrategy[Turn]:
    working = st.lists(_steps(calls=True), max_size=3)
    answer = st.lists(_steps(calls=False), min_size=0 if is_last else 1, max_size=1)
    return st.builds(
        Turn,
        user=TEXTS,
        steps=st.builds(lambda work, said: (*work, *said), working, answer),
        with_image=_RARELY,
        is_strange=_RARELY,
    )


def conversations(format: FormatName, *, max_turns: int = 3) -> st.SearchStrategy[list[Any]]:
    """
    Return lists that the provider accepts: turns, parallel calls, failures, images, thinking, unknown blocks.

    Each ends as a request may end: with the user, with results, or with an answer.
    """
    turns = st.builds(
        lambda before, last: (*before, last),
        st.lists(_turns(is_last=False), max_size=max_turns - 1),
        _turns(is_last=True),
    )
    return turns.map(lambda turns: told(format, turns))


@st.composite
def broken_conversations(draw: st.DrawFn, format: FormatName) -> list[Any]:
    """
    Return lists after an accident: messages lost, doubled or out of order, ids twice, a call that nobody answered.

    Most of them, not all, break a rule of the provider; all can be read.
    """
    messages = draw(conversations(format, max_turns=3))
    for _ in range(draw(st.integers(1, 3))):
        index = draw(st.integers(0, max(0, len(messages) - 1)))
        match draw(st.sampled_from(["lose", "double", "swap", "same ids", "stop", "empty"])):
            case "lose":
                del messages[index : index + draw(st.integers(1, 2))]
            case "double":
                messages[index:index] = messages[index : index + 1]
            case "swap" if messages:
                messages[0], messages[index] = messages[index], messages[0]
            case "same ids":
                messages = [_with_one_id(message) for message in messages]
            case "stop":
                messages += told(format, (Turn("again", (Step(calls=(Call(), Call())),)),))
                del messages[-2 if format in {"openai-chat", "openai-responses"} else -1 :]
            case _ if messages:
                key = "parts" if format == "gemini" else "content"
                messages[index] = {**messages[index], key: []} if key in messages[index] else messages[index]
            case _:
                pass
    return messages


def _with_one_id(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_one_id(item) for item in value]
    if isinstance(value, dict):
        return {
            key: "call_0" if key in {"id", "tool_use_id", "call_id", "tool_call_id"} else _with_one_id(item)
            for key, item in value.items()
        }
    return value


def of_any_format(
    of: Callable[[FormatName], st.SearchStrategy[list[Any]]],
) -> st.SearchStrategy[tuple[FormatName, list[Any]]]:
    """
    Return the lists of one of the strategies above for all formats, each with its format's name.
    """
    return st.sampled_from(FORMATS).flatmap(lambda name: st.tuples(st.just(name), of(name)))


def long_conversation(format: FormatName, *, messages: int, result_characters: int = 400) -> list[Any]:
    """
    Return a list of exactly so many messages (items, contents): an agent at work, the same list every time.

    One user message for each twenty steps, two parallel calls in each fourth, each fifth result a failure.
    """
    made: list[Any] = []
    number = iter(range(10_000_000_000))
    turn = 0
    while True:
        told_turn = _TELL[format](_working_turn(turn, result_characters), number)
        if len(made) + len(told_turn) > messages:
            break
        made += told_turn
        turn += 1
    while len(made) < messages:
        missing = messages - len(made)
        steps = (Step(text=f"nothing more to do ({missing})"),) if missing > 1 else ()
        made += _TELL[format](Turn(f"go on ({missing})", steps), number)
    return made


def _working_turn(turn: int, size: int) -> Turn:
    steps = [
        Step(
            text=f"Step {step} of turn {turn}: look at what the tests say." if step % 2 else "",
            thinking=f"The parser in turn {turn} may drop line {step}." if step % 5 == 0 else "",
            calls=tuple(_working_call(turn, step, nth, size) for nth in range(2 if step % 4 == 0 else 1)),
        )
        for step in range(20)
    ]
    return Turn(f"Task {turn}: make the tests of module {turn} pass.", (*steps, Step(text=f"Module {turn} passes.")))


def _working_call(turn: int, step: int, nth: int, size: int) -> Call:
    path = f"/srv/app/module_{turn}/file_{step}_{nth}.py"
    failed = step % 5 == 0
    line = f"FileNotFoundError: [Errno 2] No such file: {path!r}\n" if failed else f"{path}:{step}: passed\n"
    return Call("read_file", {"path": path, "limit": 200}, (line * (size // len(line) + 1))[:size], failed=failed)


def place_of(text: str) -> str:
    """Where the whole of a compacted text lies; empty if it is not marked."""
    found = marker_of(text)
    return found.place if found else ""
