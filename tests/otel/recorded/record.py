"""
Record the spans that a framework and an instrumentation really make.

See `README.md`. What a program says is kept as it was; what names the machine or the moment becomes a number.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
FRAMEWORKS = HERE / "frameworks"
RECORDINGS = HERE / "spans"

AT_START = "recorded.at_start"
"""On each span: the names of the attributes that it had when it started."""

EARLY = "recorded.early"
"""The names of those that it had when the first span inside it started; all, if there was none."""

PACKAGES = "recorded.packages"
"""On the resource: what was recorded."""

MAX_TEXT = 200
MAX_FRAMES = 3
"""Of each stack the innermost ones; the others are the framework's."""

MS = 1_000_000
_NOT_CLIPPED = {"TOOL", "tool", "execute_tool"}
"""What marks a tool's span, whose input is its arguments and whose output is its error."""

_EVERYWHERE = ["opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common"]
_UUID = re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b")
_FRAME = re.compile(r'  File "[^\n]*\n(?:    [^\n]*\n)*')
_FRAMES = re.compile(rf"(?:{_FRAME.pattern})+")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


@dataclass
class Recorder:
    """
    A span processor that keeps the order in which spans start and end.
    """

    steps: int = 0
    started: dict[int, tuple[int, list[str]]] = field(default_factory=dict)
    ended: list[tuple[int, Any]] = field(default_factory=list)
    open: dict[int, Any] = field(default_factory=dict)
    early: dict[int, list[str]] = field(default_factory=dict)

    def on_start(self, span: Any, parent_context: object = None) -> None:
        self.steps += 1
        self.started[span.context.span_id] = (self.steps, sorted(span.attributes or {}))
        self.open[span.context.span_id] = span
        if span.parent is not None and span.parent.span_id in self.open:
            around = self.open[span.parent.span_id]
            self.early.setdefault(span.parent.span_id, sorted(around.attributes or {}))

    def _on_ending(self, span: Any) -> None:
        pass

    def on_end(self, span: Any) -> None:
        self.steps += 1
        self.ended.append((self.steps, span))
        self.open.pop(span.context.span_id, None)

    def shutdown(self) -> None:
        pass

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True


def main() -> None:
    """Record one pair in this environment, or every pair in an environment of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("framework", nargs="?", help="a file of frameworks/ without .py; every one if left out")
    parser.add_argument("instrumentation", nargs="?", help="a key of its INSTRUMENTATIONS; every one if left out")
    parser.add_argument("--here", action="store_true", help="in this environment, where the packages are")
    asked = parser.parse_args()
    names = [asked.framework] if asked.framework else sorted(path.stem for path in FRAMEWORKS.glob("[a-z]*.py"))
    for name in names:
        for instrumentation, packages in _packages(name).items():
            if asked.instrumentation not in {None, instrumentation}:
                continue
            if asked.here:
                record(name, instrumentation, packages)
            else:
                _elsewhere(name, instrumentation, packages)


def record(name: str, instrumentation: str, packages: list[str]) -> None:
    """Run every scenario of a framework under one instrumentation and write what came of it."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    sys.path.insert(0, str(HERE))
    recorder = Recorder()
    provider = TracerProvider(resource=Resource({}), shutdown_on_exit=False)
    provider.add_span_processor(recorder)  # type: ignore[arg-type]
    if instrumentation != "logfire":
        trace.set_tracer_provider(provider)
    framework = importlib.import_module(f"frameworks.{name}")
    framework.INSTRUMENTATIONS[instrumentation](recorder if instrumentation == "logfire" else provider)
    installed = [f"{package}=={version(package)}" for package in (re.split(r"[\[=<>!]", p)[0] for p in packages)]
    RECORDINGS.mkdir(exist_ok=True)
    for scenario in framework.SCENARIOS:
        recorder.started.clear()
        recorder.ended.clear()
        recorder.steps = 0
        _run(scenario)
        path = RECORDINGS / f"{name}-{instrumentation}-{scenario.__name__}.jsonl"
        lines = list(_lines(recorder, installed))
        path.write_text("".join(lines), encoding="utf-8")
        print(f"{path.name}: {len(recorder.ended)} spans, {path.stat().st_size} bytes")


def _run(scenario: Callable[[], Any]) -> None:
    """A scenario may end as its framework ends it: with the tool's own exception, or one around it."""
    try:
        outcome = scenario()
        if inspect.isawaitable(outcome):
            asyncio.run(outcome)  # type: ignore[arg-type]
    except Exception as error:
        print(f"  {scenario.__name__} ended with {type(error).__name__}: {str(error)[:200]}")


def _packages(name: str) -> dict[str, list[str]]:
    """What each instrumentation of a framework needs, read without importing what is not installed here."""
    text = (FRAMEWORKS / f"{name}.py").read_text(encoding="utf-8")
    found = re.search(r"^PACKAGES = (\{.*?^\})", text, re.MULTILINE | re.DOTALL)
    assert found, f"{name}.py has no PACKAGES"
    packages: dict[str, list[str]] = eval(found[1], {})
    return packages


def _elsewhere(name: str, instrumentation: str, packages: list[str]) -> None:
    wanted = [f"--with={package}" for package in (*_EVERYWHERE, *packages)]
    command = ["uv", "run", "--no-project", "--isolated", *wanted, "python", str(Path(__file__)), "--here"]
    subprocess.run([*command, name, instrumentation], check=True)


def _lines(recorder: Recorder, packages: list[str]) -> Iterator[str]:
    """Yield an OTLP/JSON request for each trace; ids and times become the order of what happened."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    numbers: dict[int, int] = {}
    traces: dict[int, list[dict[str, Any]]] = {}
    for end, span in sorted(recorder.ended, key=lambda ended: recorder.started[ended[1].context.span_id][0]):
        context = span.context
        start, at_start = recorder.started[context.span_id]
        request = MessageToDict(encode_spans([span]), use_integers_for_enums=True)
        of_scope = request["resourceSpans"][0]["scopeSpans"][0]
        fields = of_scope["spans"][0]
        if _NOT_CLIPPED.isdisjoint(value for value in (span.attributes or {}).values() if isinstance(value, str)):
            _clip(fields)
        fields.pop("links", None)
        fields.pop("traceState", None)
        fields.pop("flags", None)
        number = numbers.setdefault(context.trace_id, len(numbers) + 1)
        fields["traceId"] = f"{number:032x}"
        fields["spanId"] = f"{numbers.setdefault(context.span_id, len(numbers) + 1):016x}"
        fields.pop("parentSpanId", None)
        if span.parent is not None:
            fields["parentSpanId"] = f"{numbers.setdefault(span.parent.span_id, len(numbers) + 1):016x}"
        fields["startTimeUnixNano"], fields["endTimeUnixNano"] = str(start * MS), str(end * MS)
        for event in fields.get("events", ()):
            event["timeUnixNano"] = str(end * MS)
        for name, keys in ((AT_START, at_start), (EARLY, recorder.early.get(context.span_id))):
            if keys is not None:
                values = [{"stringValue": key} for key in keys]
                fields.setdefault("attributes", []).append({"key": name, "value": {"arrayValue": {"values": values}}})
        traces.setdefault(number, []).append(of_scope)
    resource = [{"key": PACKAGES, "value": {"stringValue": " ".join(packages)}}]
    known: dict[str, str] = {}
    for scopes in traces.values():
        request = {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": scopes}]}
        yield json.dumps(_scrubbed(request, known), separators=(",", ":"), ensure_ascii=False) + "\n"


def _clip(fields: dict[str, Any]) -> None:
    """Leave out what models were told and said: nobody reads it here."""
    attributes = fields.get("attributes", ())
    fields["attributes"] = [one for one in attributes if len(str(one["value"])) <= MAX_TEXT]
    for event in fields.get("events", ()):
        if event["name"] != "exception":
            event["attributes"] = []


def _scrubbed(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: found if key.endswith("Id") else _scrubbed(found, known) for key, found in value.items()}
    if isinstance(value, list):
        return [_scrubbed(item, known) for item in value]
    return _impersonal(value, known) if isinstance(value, str) else value


def _impersonal(text: str, known: dict[str, str]) -> str:
    """Take machine, user and moment out of a text."""
    for folder, name in _FOLDERS.items():
        text = text.replace(folder, name)
    text = _UUID.sub(lambda found: known.setdefault(found[0], f"00000000-0000-0000-0000-{len(known) + 1:012d}"), text)
    text = _ADDRESS.sub("0x7f0000000000", text)
    return _FRAMES.sub(lambda found: "".join(_FRAME.findall(found[0])[-MAX_FRAMES:]), text)


_FOLDERS = {
    **{sysconfig.get_path(key): "site-packages" for key in ("purelib", "platlib")},
    str(Path(os.__file__).parent): "lib/python",
    str(Path(os.__file__).parent.resolve()): "lib/python",
    str(HERE): "recorded",
    str(HERE.resolve()): "recorded",
    sys.base_prefix: "python",
    str(Path.cwd()): ".",
    str(Path.home()): "~",
}

if __name__ == "__main__":
    main()
