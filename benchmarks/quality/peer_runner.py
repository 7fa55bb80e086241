"""
Runs inside the environment of the peers: raw errors in as JSON, their keys, texts and costs out as JSON.

It knows nothing of this project. Each peer is imported when its turn comes, so that one that fails spoils no other.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
import traceback
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FRAME = re.compile(r'^\s*File "([^"]{1,500})", line \d+, in (\S{1,200})', re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]{0,200})(?::|$)")


def drain3_keys(texts: list[str]) -> list[str]:
    """Feed each text as one line; the key is the cluster it fell into."""
    from drain3 import TemplateMiner
    from drain3.template_miner_config import TemplateMinerConfig

    config = TemplateMinerConfig()
    config.drain_sim_th = 0.6
    miner = TemplateMiner(config=config)
    return [str(miner.add_log_message(" ".join(text.split()))["cluster_id"]) for text in texts]


def bugdna_keys(texts: list[str]) -> list[str]:
    """Fingerprint the type and the frames that a traceback names; other texts have none and stand for themselves."""
    from bugdna import generate_from_synthetic

    return [generate_from_synthetic(_failure(text)).id for text in texts]


def _failure(text: str) -> dict[str, object]:
    frames = [f"{file.rsplit('/', 1)[-1].removesuffix('.py')}#{function}" for file, function in _FRAME.findall(text)]
    raised = [match[1] for line in text.splitlines() if (match := _RAISED.match(line))] if frames else []
    return {"rootCause": raised[-1] if raised else text or "nothing", "frames": frames[::-1]}


def headroom_shown(variants: list[str]) -> list[str]:
    """Compress a conversation of four tool calls as the proxy does by default."""
    from headroom.compress import compress

    messages = compress(_conversation(variants)).messages
    return [message["content"] for message in messages if message["role"] == "tool"]


def headroom_unprotected_shown(variants: list[str]) -> list[str]:
    """Compress each text by the log compressor alone, which the proxy keeps away from errors."""
    from headroom.transforms.log_compressor import LogCompressor

    compressor = LogCompressor()
    return [compressor.compress(text).compressed for text in variants]


def leantokens_shown(variants: list[str]) -> list[str]:
    """Compress a conversation of four tool calls with `--smart`."""
    import leantokens

    leantokens.count = lambda text, *_: (len(text) / 4, False)  # Its own way to count asks the network.
    body: dict[str, Any] = {"messages": _conversation(variants)}
    leantokens.compress_request(body, smart=True)
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def _conversation(variants: list[str]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Make the build pass."}]
    for number, text in enumerate(variants):
        function = {"name": "bash", "arguments": json.dumps({"command": f"make # {number}"})}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
    return messages


def sentry_costs(_: list[str]) -> dict[str, float]:
    """Return microseconds of `capture_exception` into a transport that drops everything."""
    import sentry_sdk
    from sentry_sdk.transport import Transport

    class Nowhere(Transport):
        def capture_envelope(self, envelope: object) -> None:
            """Do nothing."""

    sentry_sdk.init(dsn="http://key@127.0.0.1:9/1", transport=Nowhere)
    return _costs_by_frames("sentry_sdk capture_exception", sentry_sdk.capture_exception)


def bugdna_costs(_: list[str]) -> dict[str, float]:
    """Return microseconds for the fingerprint of a live exception."""
    from bugdna import generate

    return _costs_by_frames("bugdna generate", generate)


def drain3_costs(texts: list[str]) -> dict[str, float]:
    """Return microseconds for one small text, as one line."""
    small = [text for text in texts if len(text) <= 4_096]
    started = time.perf_counter_ns()
    drain3_keys(small)
    return {"drain3 add_log_message, mean": (time.perf_counter_ns() - started) / 1_000 / len(small)}


def headroom_costs(texts: list[str]) -> dict[str, float]:
    """Return microseconds for one small text."""
    return {"headroom compress, median": _median_over(texts, headroom_shown)}


def leantokens_costs(texts: list[str]) -> dict[str, float]:
    """Return microseconds for one small text."""
    return {"leantokens compress_request, median": _median_over(texts, leantokens_shown)}


def _median_over(texts: list[str], show: Callable[[list[str]], object]) -> float:
    small = [text for text in texts if len(text) <= 4_096][:60]
    show(small[:1])
    return statistics.median(_time(partial(show, [text])) for text in small)


def _costs_by_frames(name: str, take: Callable[[Exception], object]) -> dict[str, float]:
    return {f"{name}, {frames} frames": _median(partial(take, _raised(frames))) for frames in (5, 20)}


def _raised(frames: int) -> Exception:
    def fail(left: int) -> None:
        if left <= 1:
            raise KeyError("user_id")
        fail(left - 1)

    try:
        fail(frames - 1)
    except KeyError as error:
        return error
    raise AssertionError


def _median(call: Callable[[], object], rounds: int = 100) -> float:
    return statistics.median(_time(call) for _ in range(rounds))


def _time(call: Callable[[], object]) -> float:
    started = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - started) / 1_000


KEYS = {"drain3": drain3_keys, "bugdna": bugdna_keys}
SHOWN = {
    "headroom-ai": headroom_shown,
    "headroom-ai log compressor": headroom_unprotected_shown,
    "leantokens --smart": leantokens_shown,
}
COSTS = (bugdna_costs, drain3_costs, headroom_costs, leantokens_costs, sentry_costs)
DISTRIBUTIONS = ("drain3", "bugdna", "headroom-ai", "leantokens", "sentry-sdk")


def main() -> None:
    """Read the raw errors, let every peer try, and write what came of it; a peer that fails is named with its fault."""
    given = json.load(sys.stdin)
    found: dict[str, Any] = {"keys": {}, "shown": {}, "costs": {}, "failed": {}}
    found["versions"] = {name: version(name) for name in DISTRIBUTIONS}
    for name, keys in KEYS.items():
        _try(name, found, lambda keys=keys, name=name: found["keys"].update({name: keys(given["texts"])}))
    for name, show in SHOWN.items():
        _try(name, found, lambda show=show, name=name: found["shown"].update({name: _all(show, given["kinds"])}))
    for cost in COSTS:
        _try(cost.__name__, found, lambda cost=cost: found["costs"].update(cost(given["texts"])))
    json.dump(found, sys.__stdout__)


def _all(show: Callable[[list[str]], list[str]], kinds: dict[str, list[str]]) -> dict[str, list[str]]:
    return {kind: show(variants) for kind, variants in kinds.items()}


def _try(name: str, found: dict[str, Any], run: Callable[[], object]) -> None:
    try:
        run()
    except Exception:  # noqa: BLE001 - other people's code; the report says what happened
        found["failed"][name] = traceback.format_exc(limit=-1, chain=False)


if __name__ == "__main__":
    sys.stdout = sys.stderr  # Peers print what they like; the answer alone goes out.
    main()
