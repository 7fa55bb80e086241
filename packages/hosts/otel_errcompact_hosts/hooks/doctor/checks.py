"""Which of see, replace, add, refuse, stop, turn and ids hold."""

from __future__ import annotations

import json
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, Literal, cast

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.actions import Halt
from otel_errcompact.escalator.thresholds import Thresholds
from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.hooks.doctor.scenes import OUTPUT, Scene
from otel_errcompact_hosts.hooks.doctor.sending import SendingError
from otel_errcompact_hosts.hooks.profiles import answer
from otel_errcompact_hosts.runs import LedgerRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from otel_errcompact_hosts.hooks.doctor.sending import Way

Held = Literal["yes", "no", "cannot"]

_CANNOT: Final[Mapping[tuple[str, str], str]] = {
    ("claude-code", "replace"): "its hooks cannot; the shell prefix could, and is not installed",
    ("cursor", "replace"): "its hooks replace results of MCP servers alone, and no output of a command",
    ("copilot", "turn"): "its hooks do not say which calls were made side by side",
    ("copilot", "ids"): "its hooks give calls no id",
    ("gemini", "turn"): "its hooks do not say which calls were made side by side",
    ("gemini", "ids"): "its hooks give calls no id",
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
    host: str, send: Way, new_session: Callable[[], str], wrap: Callable[[str], str] | None = None
) -> tuple[Finding, ...]:
    """
    Let a known failure happen three times, and judge what is answered.

    Args:
        host: The host's name.
        send: Passes an event to the hooks as the host would, and returns their answer.
        new_session: Makes the id of a session that nothing else has.
        wrap: Runs the failing command of a session behind the host's shell prefix, and returns what is printed.
    """
    with TemporaryDirectory() as folder:
        found = _try_all(lambda: Scene(host=host, session=new_session(), folder=folder), send)
    impossible = {name: reason for (of, name), reason in _CANNOT.items() if of == host}
    if wrap is not None:
        del impossible["replace"]
        found["replace"] = _check_wrapper(wrap, new_session(), send)
    found |= {name: ("cannot", reason) for name, reason in impossible.items()}
    return tuple(Finding(capability=name, held=held, evidence=evidence) for name, (held, evidence) in found.items())


def _try_all(make_scene: Callable[[], Scene], send: Way) -> dict[str, tuple[Held, str]]:
    scene = make_scene()
    send(scene.before(1))
    first = _fail_once(scene, 1, send)
    send(scene.before(2))
    second = _fail_once(scene, 2, send)
    third = send(scene.before(3))
    seen = _texts_of(second)
    return {
        "see": _judge_answer(
            "again (x2" in seen,
            "a command that failed twice was counted twice",
            "a command failed twice, and was not counted twice",
            second,
        ),
        "replace": _judge_answer(
            _is_replaced(first),
            "the agent reads a digest in place of the output of a command that failed",
            "the agent reads the raw output of a command that failed",
            first,
        ),
        "add": _judge_answer(
            "2 in a row" in seen,
            "the agent reads how often the command has failed",
            "the agent does not read how often the command has failed",
            second,
        ),
        "refuse": _judge_answer(
            "NOT EXECUTED" in _texts_of(third),
            "a command that had failed twice was not executed a third time",
            "a command that had failed twice is executed a third time",
            third,
        ),
        "stop": _check_stop(scene.host, send, answers=any((first, second, third))),
        "turn": _check_turn(make_scene(), send),
        "ids": _check_ids(make_scene(), send),
    }


def _check_wrapper(wrap: Callable[[str], str], session: str, send: Way) -> tuple[Held, str]:
    try:
        printed = wrap(session)
    except SendingError as error:
        send.problems[str(error)] = error.remedy
        return "no", "behind the shell prefix no command runs"
    if "KeyError" in printed and OUTPUT not in printed:
        return "yes", "the agent reads a digest in place of the output of a command that failed, by the shell prefix"
    return (
        "no",
        f"behind the shell prefix the agent reads the raw output of a command that failed: {_show_answer(printed)}",
    )


def _judge_answer(held: bool, yes: str, no: str, said: object) -> tuple[Held, str]:
    return ("yes", yes) if held else ("no", f"{no}: the hook answered {_show_answer(said)}")


def _fail_once(scene: Scene, number: int, send: Way) -> Mapping[str, object]:
    said = send(scene.after(number))
    if scene.host == "claude-code":
        send(scene.batch(number))
    return said


def _check_turn(scene: Scene, send: Way) -> tuple[Held, str]:
    send(scene.before(1))
    send(scene.before(2))
    send(scene.after(1))
    second = send(scene.after(2))
    if scene.host == "claude-code":
        send(scene.batch(1, 2))
    seen = _texts_of(second)
    return _judge_answer(
        "again (x2" in seen and "in a row" not in seen,
        "two parallel calls that failed counted as one failed turn",
        "two parallel calls that failed counted as two failed turns",
        second,
    )


def _check_ids(scene: Scene, send: Way) -> tuple[Held, str]:
    send(scene.before(1))
    send(scene.after(1))
    again = send(scene.after(1))
    send(scene.before(2))
    second = send(scene.after(2))
    return _judge_answer(
        not again and "again (x2" in _texts_of(second),
        "a call that was reported twice counted once",
        "a call that was reported twice did not count once",
        again or second,
    )


def _check_stop(host: str, send: Way, *, answers: bool) -> tuple[Held, str]:
    scene = Scene(host=host, session="doctor")
    event = {"claude-code": scene.batch(1), "gemini": scene.after(1)}.get(host, scene.before(1))
    said = answer(host, event.fields, _halt_run(scene.session))
    if not answers:
        return "no", "a halted run would continue: the hooks answer nothing at all"
    if not send.has(event.name):
        return "no", f"a halted run would continue: no hook is installed for the event {event.name}"
    if host in {"claude-code", "gemini"}:
        is_ended = said.get("continue") is False and _REASON in str(said.get("stopReason"))
        return _judge_answer(is_ended, "a halted run ends, with the reason", "a halted run would continue", said)
    return _judge_answer(
        _REASON in _texts_of(said),
        "every call of a halted run is refused, with the reason",
        "the calls of a halted run would be executed",
        said,
    )


def _halt_run(session: str) -> LedgerRuns:
    runs = LedgerRuns(ledger=Ledger(), on_escalation=lambda _: Halt(_REASON), thresholds=Thresholds(same=1))
    runs.conclude(HostCall(run_id=session, tool="doctor"), HostResult(text=OUTPUT, failed=True))
    return runs


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


def _show_answer(said: object) -> str:
    text = json.dumps(said, ensure_ascii=False)
    return "nothing" if text == "{}" else text if len(text) <= 160 else f"{text[:160]}..."  # noqa: PLR2004 - a line
