"""
The worst requests to the receiver of telemetry: `python -m benchmarks.attacks.requests`.

Each is at most 1 MB as it is sent. It goes to a receiver in a process of its own, which prints what it cost over the
idle process: CPU and memory.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.quality.hostile import markers, seeds
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.telemetry.bodies import JSON, MAX_BYTES, PROTOBUF
from otel_errcompact_hosts.telemetry.counting import ReportedRuns
from otel_errcompact_hosts.telemetry.messages import MAX_FIELDS
from otel_errcompact_hosts.telemetry.receiver import Receiver, Request
from otel_errcompact_hosts.telemetry.reports import MAX_SAID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MB: Final = 1_000_000
FULL: Final = MAX_FIELDS - 100
"""Fields that are just taken."""

CALL: Final = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "query", "gen_ai.conversation.id": "c"}
WORDS: Final = ("alpha", "broken", "cannot", "denied", "error", "failed", "got", "No such file", "at", "in")


class Cost(NamedTuple):
    """What a request has cost."""

    status: int
    cpu_s: float
    memory_mb: float


def requests(seed: int = 5) -> Iterator[tuple[str, Request]]:
    """Yield the attacks by name."""
    yield from _shapes()
    yield from _packed()
    yield from _in_json()
    yield from _texts(random.Random(seed))
    yield from _emitters(random.Random(seed))


def measure(request: Request, warm: Receiver) -> Cost:
    """Return what a request costs a receiver, in a process of its own."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        before, began = _read_memory("VmRSS"), time.process_time()
        status = warm.receive(request).status
        cost = Cost(status, time.process_time() - began, _read_memory("VmHWM") - before)
        os.write(writes, json.dumps(cost).encode())
        os._exit(0)
    os.close(writes)
    answer = os.read(reads, 4_096)
    os.close(reads)
    os.waitpid(child, 0)
    return Cost(*json.loads(answer))


def warm_receiver() -> Receiver:
    """Return a receiver that has its patterns ready."""
    receiver = Receiver(ReportedRuns(Ledger()))
    for text in ("no such table: orders", 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: x'):
        receiver.receive(Request("traces", spans([failed(text, call=text)])))
    return receiver


def number(value: int) -> bytes:
    """A number as protobuf writes it."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def field(tag: int, content: bytes | str) -> bytes:
    """A field with a length."""
    content = content.encode() if isinstance(content, str) else content
    return number(tag << 3 | 2) + number(len(content)) + content


def attributes(tag: int, content: Mapping[str, str]) -> bytes:
    """Attributes with texts."""
    return b"".join(field(tag, field(1, key) + field(2, field(1, value))) for key, value in content.items())


def spans(entries: list[bytes], service: str = "", scope: str = "") -> bytes:
    """A request with spans, or with log records."""
    resource = attributes(1, {"service.name": service}) if service else b""
    part = field(1, field(1, scope)) + b"".join(field(2, entry) for entry in entries)
    return field(1, field(1, resource) + field(2, part))


def failed(text: str, *, call: object = "", name: str = "execute_tool query", **more: str) -> bytes:
    """A span of a failed call."""
    named = {**CALL, "gen_ai.tool.call.id": str(call), **{key.replace("__", "."): value for key, value in more.items()}}
    return field(5, name) + attributes(9, named) + field(15, field(2, text) + b"\x18\x02")


def _fill(make: Callable[[int], bytes], limit: int = MB - 1_000) -> list[bytes]:
    found, size = list[bytes](), 0
    while size < limit:
        found.append(make(len(found)))
        size += len(found[-1]) + 5
    return found[:-1] or found


def _shapes() -> Iterator[tuple[str, Request]]:
    key = field(1, "x")
    for signal in ("traces", "logs"):
        yield f"empty {signal}", Request(signal, spans([b""] * (FULL - 10)))
        yield f"more empty {signal}", Request(signal, spans([b""] * (MB // 2 - 10)))
    yield "one span of attributes", Request("traces", spans([field(9, b"") * FULL]))
    distinct = (field(9, field(1, f"{n:05x}") + field(2, number(3 << 3) + number(n))) for n in range(FULL // 4))
    yield "distinct attributes", Request("traces", spans([b"".join(distinct)]))
    yield "a list", Request("traces", spans([field(9, key + field(2, field(5, field(1, b"") * FULL)))]))
    doubles = field(1, number(4 << 3 | 1) + b"12345678") * (MB // 12)
    yield "a list of numbers", Request("traces", spans([field(9, key + field(2, field(5, doubles)))]))
    yield "events", Request("traces", spans([field(11, b"") * FULL]))
    yield "events with attributes", Request("traces", spans([field(11, field(3, field(1, "ab"))) * (FULL // 3)]))
    deep = b""
    for _ in range(3_000):
        deep = field(5, field(1, deep))
    yield "deep values", Request("traces", spans([field(9, key + field(2, deep))] * 50))
    yield "resources", Request("traces", field(1, field(1, attributes(1, {"k": "v"}))) * (FULL // 6))
    yield "groups", Request("traces", field(1, b"") * FULL)
    yield "unknown fields", Request("traces", b"\x78\x00" * (MB // 2))


def _packed() -> Iterator[tuple[str, Request]]:
    pack = partial(gzip.compress, mtime=0)

    def packed(body: bytes) -> Request:
        return Request("traces", body, PROTOBUF, "gzip")

    yield "packed zeros", packed(pack(b"\0" * MAX_BYTES))
    yield "a bomb", packed(pack(b"\0" * 900 * MB))
    yield "many members", packed(pack(b"") * (MB // 20))
    yield "members that unpack", packed(pack(b"\x0a\x00" * 260_000) * 16)
    yield "a bomb in a bomb", packed(pack(pack(b"\0" * 100 * MB)))
    yield "packed empty spans", packed(pack(spans([b""] * (MAX_BYTES // 2 - 100))))
    wide = "\U0001f600" + "x" * 200_000
    texts = [failed(wide, call=n) for n in range(MAX_BYTES // 200_400)]
    long = failed("\U0001f600" + "x" * (MAX_BYTES - 1_000))
    yield "one packed text with a picture", packed(pack(spans([long])))
    yield "packed texts with a picture", packed(pack(spans(texts)))


def _in_json() -> Iterator[tuple[str, Request]]:
    def posted(body: bytes | str) -> Request:
        return Request("traces", body.encode() if isinstance(body, str) else body, JSON)

    def inside(content: str) -> str:
        return '{"resourceSpans":[{"scopeSpans":[{"spans":[' + content + "]}]}]}"

    yield "lists in JSON", posted('{"resourceSpans":[' + "[]," * (FULL // 3) + "[]]}")
    yield "objects in JSON", posted('{"resourceSpans":[' + "{}," * (FULL // 2 - 9) + "{}]}")
    yield "deep JSON", posted('{"a":' * (MB // 5))
    yield "lists 900 deep", posted('{"a":[' + ("[" * 900 + "]" * 900 + ",") * (FULL // 902) + "1]}")
    yield "one name again and again", posted("{" + '"a":1,' * (MB // 7 - 9) + '"a":1}')
    yield "many names", posted("{" + ",".join(f'"{n:x}":1' for n in range(MB // 10)) + "}")
    yield (
        "attributes in JSON",
        posted(inside('{"attributes":[' + ",".join(f'{{"key":"{n:x}"}}' for n in range(FULL // 3)) + "]}")),
    )
    yield "spans in JSON", posted(inside(",".join(["{}"] * (FULL // 2 - 9))))
    yield "numbers in JSON", posted('{"a":[' + "1234," * (FULL - 9) + "1]}")
    yield "a long number", posted('{"a":' + "1" * (MB - 10) + "}")
    yield "escapes", posted('{"a":"' + "\\ud83d\\ude00" * (MB // 12 - 9) + '"}')
    text = json.dumps({"name": "\U0001f600" + "x" * 100_000}, ensure_ascii=False)
    packed = gzip.compress(inside(",".join([text] * 41)).encode(), mtime=0)
    yield "packed JSON with a picture", Request("traces", packed, JSON, "gzip")


def _texts(rng: random.Random) -> Iterator[tuple[str, Request]]:
    def say(count: int) -> str:
        return " ".join(rng.choice(WORDS) + rng.choice("xyzabc") * rng.randint(0, 3) for _ in range(count))

    def lines(count: int) -> str:
        return "\n".join(say(8) for _ in range(count))

    def stack(n: int) -> str:
        frames = "".join(f'  File "/a/b{i}_{n}.py", line {i}, in f{i}\n    call({i})\n' for i in range(60))
        return f"Traceback (most recent call last):\n{frames}ValueError: {say(4)}"

    def as_spans(make: Callable[[int], str], **more: Callable[[int], str]) -> Request:
        entries = _fill(lambda n: failed(make(n), call=n, **{name: get(n) for name, get in more.items()}))
        return Request("traces", spans(entries))

    run, tool, arguments = "gen_ai__conversation__id", "gen_ai__tool__name", "gen_ai__tool__call__arguments"
    yield "one class", as_spans(lambda _: "no such table")
    yield "distinct classes, runs and tools", as_spans(lambda _: say(3), **{run: str, tool: str})
    yield "texts of 4 kB", as_spans(lambda _: lines(70))
    yield "texts of 30 kB", as_spans(lambda _: lines(500))
    yield "stacks", as_spans(stack)
    commands = json.dumps({"command": "; ".join(f"cd a{n} && make t{n} | tee x{n}" for n in range(800))})
    for name, given in (("commands", commands), ("deep arguments", '{"a":' * 5_000)):
        yield name, as_spans(lambda n: f"x failed {n}", **{arguments: lambda _, given=given: given})  # type: ignore[misc]
    names = sorted(seeds())
    known = [seeds()[name] for name in rng.sample(names, min(20, len(names)))]
    for text in (*known, *rng.sample(sorted(markers()), 20), *"a1 .:/\"'([{<=-_@#|\n\t\x1b"):
        grown = (text * (MAX_SAID // max(len(text), 1) + 1))[:MAX_SAID]
        yield f"{text[:12]!r} again and again", as_spans(lambda n, grown=grown: f"{grown[n:]}{n}")  # type: ignore[misc]


def _emitters(rng: random.Random) -> Iterator[tuple[str, Request]]:
    def packed(signal: str, entries: list[bytes], **about: str) -> Request:
        return Request(signal, gzip.compress(spans(entries, **about), mtime=0), PROTOBUF, "gzip")

    def say(count: int) -> str:
        return " ".join(rng.choice(WORDS) + rng.choice("xyzabc") for _ in range(count))

    call = {"function_name": "run_shell_command", "session.id": "s"}
    for name, text in (
        ("outputs", json.dumps({"a": ["Output: x\nExit Code: 1"] * 8_000})),
        ("lists", '{"a":[' + "[]," * 80_000 + "1]}"),
        ("depth", '{"a":' + "[" * 120_000),
    ):
        named = (
            field(4, b"\0" * 7 + b"\1")
            + field(5, "tool_call")
            + attributes(9, {**call, "gen_ai.output.messages": text})
        )
        yield (
            f"{name} in a text of Gemini CLI",
            packed("traces", [named] * (MAX_BYTES // len(named)), service="gemini-cli"),
        )
    halves = (
        field(5, "claude_code.tool.execution") + attributes(9, {"tool_use_id": f"t{n}" * 9_999, "error": "x" * 120_000})
        for n in range(50)
    )
    yield "halves of Claude Code", packed("traces", [*halves], scope="com.anthropic.claude_code.tracing")
    shell = {"event.name": "codex.tool_result", "success": "false", "output_truncated": "true"}
    records = (attributes(6, {**shell, "call_id": f"c{n}", "output": say(20_000)}) for n in range(38))
    yield "outputs of Codex", packed("logs", [*records], scope="codex")


def _read_memory(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1_000


def main() -> None:
    """Print the table, the dearest first."""
    receiver: Any = warm_receiver()
    costs = {name: (len(request.body), measure(request, receiver)) for name, request in requests()}
    print("| request | bytes | status | CPU | memory |\n|---|---:|---:|---:|---:|")
    for name, (size, cost) in sorted(costs.items(), key=lambda item: -item[1][1].cpu_s):
        shown = name.replace("|", "\\|")
        print(f"| {shown} | {size:,} | {cost.status} | {cost.cpu_s:.2f} s | {cost.memory_mb:.1f} MB |")


if __name__ == "__main__":
    main()
