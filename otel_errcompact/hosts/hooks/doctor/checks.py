"""Which of see, replace, add, refuse, stop, turn and ids hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, cast

from otel_errcompact.engine.observations import Verdict
from otel_errcompact.hosts.calls import Answer
from otel_errcompact.hosts.hooks.dispatch import answer
from otel_errcompact.hosts.hooks.doctor.scenes import OUTPUT, Event, Scene
from otel_errcompact.runtime.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact.hosts.calls import HostCall, HostResult

    Send = Callable[[Event], Mapping[str, object]]

Held = Literal["yes", "no", "cannot"]
CAPABILITIES: Final = ("see", "replace", "add", "refuse", "stop", "turn", "ids")

_CANNOT: Final[Mapping[tuple[str, str], str]] = {
    ("claude-code", "replace"): "a hook cannot, and the shell prefix is not installed",
    ("cursor", "replace"): "only results of MCP servers",
    ("copilot", "turn"): "it gives calls no id, and messages no event",
    ("copilot", "ids"): "it gives calls no id",
    ("gemini", "turn"): "it gives calls no id, and messages no event",
    ("gemini", "ids"): "it gives calls no id",
}
"""What a host offers no means for."""

_REASON: Final = "the doctor tries a halt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Whether one thing held."""

    capability: str
    held: Held
    evidence: str


def diagnose(
    host: str, send: Send, new_session: Callable[[], str], wrap: Callable[[str], str] | None = None
) -> tuple[Finding, ...]:
    """
    Let a known failure happen three times, and judge what is answered.

    Args:
        host: The host's name.
        send: Passes an event to the hooks as the host would, and returns their answer.
        new_session: Makes the id of a session that nothing else has.
        wrap: Runs the failing command of a session behind the host's shell prefix, and returns what is printed.
    """
    scene = Scene(host=host, session=new_session())
    send(scene.before(1))
    first = _fail(scene, 1, send)
    send(scene.before(2))
    second = _fail(scene, 2, send)
    third = send(scene.before(3))
    seen = _texts_of(second)
    found = {
        "see": _judge("again (x2" in seen, "the second failure was counted as the second", f"it said {_show(second)}"),
        "replace": _judge(_is_replaced(first), "a digest stands in place of the output", f"it said {_show(first)}"),
        "add": _judge("identical calls failed" in seen, "the agent reads the count", f"it said {_show(second)}"),
        "refuse": _judge("NOT EXECUTED" in _texts_of(third), "the third call was refused", f"it said {_show(third)}"),
        "stop": _check_stop(host),
        "turn": _check_turn(Scene(host=host, session=new_session()), send),
        "ids": _check_ids(Scene(host=host, session=new_session()), send),
    }
    impossible = {name: reason for (of, name), reason in _CANNOT.items() if of == host}
    if wrap is not None:
        del impossible["replace"]
        found["replace"] = _check_wrapper(wrap(new_session()))
    return tuple(_finding(name, *found[name], impossible.get(name)) for name in CAPABILITIES)


def _check_wrapper(printed: str) -> tuple[Held, str]:
    replaced = "KeyError" in printed and OUTPUT not in printed
    return _judge(
        replaced, "a digest stands in place of a command's output, by the prefix", f"it printed {_show(printed)}"
    )


def _finding(capability: str, held: Held, evidence: str, reason: str | None) -> Finding:
    if reason is not None:
        return Finding(capability=capability, held="cannot", evidence=reason)
    return Finding(capability=capability, held=held, evidence=evidence)


def _judge(held: bool, yes: str, no: str) -> tuple[Held, str]:
    return ("yes", yes) if held else ("no", no)


def _fail(scene: Scene, number: int, send: Send) -> Mapping[str, object]:
    said = send(scene.after(number))
    if scene.host == "claude-code":
        send(scene.batch(number))
    return said


def _check_turn(scene: Scene, send: Send) -> tuple[Held, str]:
    send(scene.before(1))
    send(scene.before(2))
    send(scene.after(1))
    send(scene.after(2))
    if scene.host == "claude-code":
        send(scene.batch(1, 2))
    said = _texts_of(send(scene.before(3)))
    return _judge("NOT EXECUTED" not in said, "two parallel failures counted as one turn", "they counted as two turns")


def _check_ids(scene: Scene, send: Send) -> tuple[Held, str]:
    send(scene.before(1))
    send(scene.after(1))
    again = send(scene.after(1))
    send(scene.before(2))
    said = _texts_of(send(scene.after(2)))
    held = not again and "again (x2" in said
    return _judge(held, "a call that was reported twice counted once", f"it said {_show(again)}")


def _check_stop(host: str) -> tuple[Held, str]:
    scene, runs = Scene(host=host, session="doctor"), _Halted()
    if host in {"claude-code", "gemini"}:
        event = scene.batch(1) if host == "claude-code" else scene.after(1)
        said = answer(host, event.fields, runs)
        is_ended = said.get("continue") is False and _REASON in str(said.get("stopReason"))
        return _judge(is_ended, "the run ends with the reason (tried in this process)", f"it said {_show(said)}")
    said = answer(host, {**scene.before(1).fields}, runs)
    return _judge(
        _REASON in _texts_of(said), "every call is refused with the reason (tried in this process)", _show(said)
    )


class _Halted:
    def refuse(self, call: HostCall) -> str:
        del call
        return ""

    def conclude(self, call: HostCall, result: HostResult) -> Answer:
        del call, result
        return Answer(outcome="success")

    def begin_turn(self, run_id: str) -> None:
        del run_id

    def verdict(self, run_id: str) -> Verdict:
        del run_id
        return Verdict(standing="halt", reason=_REASON)

    def resume(self, run_id: str, message: str = "") -> None:
        del run_id, message

    def end(self, run_id: str) -> None:
        del run_id


def _is_replaced(said: Mapping[str, object]) -> bool:
    text = _texts_of(said)
    replaces = any(name in said for name in ("decision", "modifiedResult", "output", "updated_mcp_tool_output"))
    return replaces and "KeyError" in text and OUTPUT not in text


def _texts_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(map(_texts_of, cast("dict[str, object]", value).values()))
    return "\n".join(map(_texts_of, cast("list[object]", value))) if isinstance(value, list) else ""


def _show(said: object) -> str:
    text = json.dumps(said, ensure_ascii=False)
    return "nothing" if text == "{}" else text if len(text) <= 160 else f"{text[:160]}..."  # noqa: PLR2004 - a line
