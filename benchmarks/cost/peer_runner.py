"""
Measures ours and other programs in one process, in an environment that holds both: rows as JSON on standard output.

Each group is a use of ours and what a user would pick instead, in the same rounds. A peer is imported when its group
needs it, so that one that fails spoils no other.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import traceback
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

import otel_errcompact as errcompact
from benchmarks.cost.measure import NEVER, SPAN, Nowhere, Row, fail, make_span, raised, take_turns
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact_context import ContextWindow

if TYPE_CHECKING:
    from collections.abc import Callable

    Call = Callable[[], object]
    Make = Callable[[], Call]

FRAMES: Final = 10
MESSAGES: Final = 1_000
RESULT: Final = "shipped 7 of 7 parcels of order A-1042 to Utrecht, carrier PostNL, expected on Friday before noon"
ERROR: Final = """\
Traceback (most recent call last):
  File "/srv/shop/tools/query.py", line 41, in query
    rows = connection.execute(statement).fetchall()
  File "/srv/shop/db/pool.py", line 118, in execute
    return self._run(statement, retry=False)
  File "/srv/shop/db/pool.py", line 131, in _run
    raise OperationalError(f"no such column: {name}")
shop.db.errors.OperationalError: no such column: amount
"""
PEERS: Final = (
    "openinference-instrumentation",
    "traceloop-sdk",
    "logfire",
    "sentry-sdk",
    "drain3",
    "bugdna",
    "headroom-ai",
    "leantokens",
)


def look_up(order: str) -> str:
    """Return what a healthy tool returns."""
    return f"{order}: {RESULT}"


def break_down(order: str) -> str:
    """Raise `FRAMES` frames deep, with another message for each order."""
    fail(FRAMES - 1, f"no route to host 'db' for {order}")
    return order


class Tools:
    """
    A healthy and a failing tool in the words of each library.

    Args:
        folder: Where the trajectory file goes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()

    def close(self) -> None:
        """End the run of ours, and take the library out."""
        self._stack.close()
        errcompact.uninstall()

    def ours(self, function: Callable[[str], str]) -> Call:
        """Return a call through `@compacted`, with spans, metrics and the trajectory file."""
        options = errcompact.Options(
            thresholds=errcompact.Thresholds(
                same=NEVER, rejected=NEVER, loop=NEVER, loop_halt=NEVER, refuse=NEVER, consecutive=NEVER, total=NEVER
            ),
            trajectory=TrajectoryOptions(path=self._folder / "trajectory.jsonl"),
        )
        tracers = TracerProvider(shutdown_on_exit=False)
        errcompact.install(
            tracer_provider=tracers, meter_provider=MeterProvider(shutdown_on_exit=False), ledger=Ledger(options)
        )
        self._stack.enter_context(errcompact.run("bench", agent="bench"))
        return _swallow(errcompact.compacted(function))

    def openinference(self, function: Callable[[str], str]) -> Call:
        """Return a call through the decorator of OpenInference's tracer."""
        from openinference.instrumentation import TracerProvider as Provider

        return _swallow(Provider(shutdown_on_exit=False).get_tracer("bench").tool(name="tool")(function))

    def traceloop(self, function: Callable[[str], str]) -> Call:
        """Return a call through the decorator of OpenLLMetry."""
        from traceloop.sdk import Traceloop
        from traceloop.sdk.decorators import tool

        os.environ["TRACELOOP_TELEMETRY"] = "false"
        Traceloop.init(
            app_name="bench", disable_batch=True, exporter=Nowhere(), telemetry_enabled=False, instruments=set()
        )
        return _swallow(tool(name="tool")(function))

    def logfire(self, function: Callable[[str], str]) -> Call:
        """Return a call through the decorator of Logfire."""
        import logfire

        logfire.configure(send_to_logfire=False, console=False, metrics=False)
        return _swallow(logfire.instrument("tool {order}", record_return=True)(function))

    def sentry(self, function: Callable[[str], str]) -> Call:
        """Return a call as a transaction of Sentry, whose failure is captured; its transport drops everything."""
        sentry_sdk = _start_sentry()
        orders = map("A-{}".format, count(1_042))

        def call() -> None:
            with sentry_sdk.start_transaction(op="gen_ai.execute_tool", name="tool"):
                try:
                    function(next(orders))
                except ConnectionError as error:
                    sentry_sdk.capture_exception(error)

        return call


def _start_sentry() -> Any:
    import sentry_sdk
    from sentry_sdk.transport import Transport

    class Dropping(Transport):
        def capture_envelope(self, envelope: object) -> None:
            """Do nothing."""

    sentry_sdk.init(
        dsn="http://key@127.0.0.1:9/1", transport=Dropping, traces_sample_rate=1.0, default_integrations=False
    )
    return sentry_sdk


def _swallow(tool: Callable[[str], object]) -> Call:
    orders = map("A-{}".format, count(1_042))

    def call() -> None:
        # Not `suppress`, which would be the better part of what a healthy call costs.
        try:  # noqa: SIM105
            tool(next(orders))
        except ConnectionError:
            pass

    return call


def measure_tools(kind: str, function: Callable[[str], str], rounds: int) -> list[Row]:
    """Return what a tool call costs in each library, in spans."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(Path(folder))
        makers: dict[str, Make] = {
            "otel-errcompact @compacted": lambda: tools.ours(function),
            "openinference @tracer.tool": lambda: tools.openinference(function),
            "openllmetry (traceloop) @tool": lambda: tools.traceloop(function),
            "logfire @instrument": lambda: tools.logfire(function),
            "sentry_sdk transaction and capture": lambda: tools.sentry(function),
        }
        rows = measure_group(kind, makers, rounds)
        tools.close()
        return rows


def measure_keys(rounds: int) -> list[Row]:
    """Return what it costs to tell which class an error is of."""
    from otel_errcompact.compactor.classify import classify

    numbers = count()

    def ours() -> Call:
        return lambda: classify(RawError(text=f"{ERROR}request {next(numbers)}\n", tool="query"))

    def drain3() -> Call:
        from drain3 import TemplateMiner
        from drain3.template_miner_config import TemplateMinerConfig

        miner = TemplateMiner(config=TemplateMinerConfig())
        return lambda: miner.add_log_message(" ".join(f"{ERROR}request {next(numbers)}".split()))

    def bugdna() -> Call:
        from bugdna import generate

        return lambda: generate(raised(FRAMES, f"no route to host 'db' for request {next(numbers)}"))

    def ours_live() -> Call:
        def call() -> None:
            error = raised(FRAMES, f"no route to host 'db' for request {next(numbers)}")
            classify(RawError(text=str(error), exception=error, tool="query"))

        return call

    makers = {
        "otel-errcompact, a new text": ours,
        "drain3 add_log_message, a new text": drain3,
        f"otel-errcompact, a new exception of {FRAMES} frames": ours_live,
        f"bugdna generate, a new exception of {FRAMES} frames": bugdna,
    }
    return measure_group("key of an error", makers, rounds)


def measure_digests(rounds: int) -> list[Row]:
    """Return what it costs to shorten one error for the agent."""
    numbers = count()

    def ours() -> Call:
        ledger = Ledger()
        return lambda: ledger.observe("bench", RawError(text=f"{ERROR}request {next(numbers)}\n", tool="query")).text

    def conversation() -> list[dict[str, Any]]:
        function = {"name": "query", "arguments": json.dumps({"n": next(numbers)})}
        calls = [{"id": "call_0", "type": "function", "function": function}]
        return [
            {"role": "user", "content": "Sum the orders."},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_0", "content": f"{ERROR}request {next(numbers)}\n"},
        ]

    def headroom() -> Call:
        from headroom.compress import compress

        return lambda: compress(conversation())

    def leantokens() -> Call:
        import leantokens as lean

        lean.count = lambda text, *_: (len(text) / 4, False)  # its own way to count asks the network
        return lambda: lean.compress_request({"messages": conversation()}, smart=True)

    makers = {"otel-errcompact observe": ours, "headroom compress": headroom, "leantokens compress_request": leantokens}
    return measure_group("shorter text of an error", makers, rounds)


def measure_windows(rounds: int) -> list[Row]:
    """Return what an unchanged list of messages costs at each turn."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Sum the orders."}]
    for number in range(MESSAGES // 2):
        function = {"name": "query", "arguments": json.dumps({"page": number})}
        calls = [{"id": f"call_{number}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": "", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": f"page {number}: {RESULT * 4}"})

    def ours() -> Call:
        window = ContextWindow()
        return lambda: window.compact(messages)

    def dumps() -> Call:
        return lambda: json.dumps(messages)

    def headroom() -> Call:
        from headroom.compress import compress

        return lambda: compress(messages)

    def leantokens() -> Call:
        import leantokens as lean

        lean.count = lambda text, *_: (len(text) / 4, False)
        return lambda: lean.compress_request({"messages": messages}, smart=True)

    makers = {
        "otel-errcompact compact() again": ours,
        "json.dumps": dumps,
        "headroom compress": headroom,
        "leantokens compress_request": leantokens,
    }
    return measure_group(f"turn over {MESSAGES:,} messages", makers, max(rounds // 20, 5), calls=1)


def measure_group(group: str, makers: dict[str, Make], rounds: int, *, calls: int = 20) -> list[Row]:
    """Return a row for each variant that works, in spans; one that fails is named on standard error."""
    variants: dict[str, Call] = {SPAN: make_span()}
    for name, make in makers.items():
        try:
            variants[name] = make()
            variants[name]()
        except Exception:  # noqa: BLE001 - other people's code; the report has its words
            variants.pop(name, None)
            print(f"{group}, {name}: failed\n{traceback.format_exc(limit=-1, chain=False)}", file=sys.stderr)
    taken = take_turns(variants, rounds=rounds, calls=calls)
    return [
        Row(name=f"{group}: {name}", value=taken[name] / taken[SPAN], unit="spans") for name in makers if name in taken
    ]


def main() -> None:
    """Measure all groups, and write rows and versions."""
    rounds = int(sys.argv[1])
    logging.disable()  # what others write of a failure is not ours to measure
    trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
    rows = [
        *measure_tools("healthy tool call", look_up, rounds),
        *measure_tools("failing tool call", break_down, rounds),
        *measure_keys(rounds),
        *measure_digests(rounds),
        *measure_windows(rounds),
    ]
    versions = {name: version(name) for name in PEERS}
    json.dump({"rows": [asdict(row) for row in rows], "versions": versions}, sys.__stdout__)


if __name__ == "__main__":
    sys.stdout = sys.stderr  # peers print what they like; the answer alone goes out
    main()
