"""What takes texts, bytes or JSON of others, and the laws that hold for whatever comes."""

from __future__ import annotations

import io
import json
import logging
import random
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.fuzz import mutation
from otel_errcompact.exceptions import ErrcompactError

if TYPE_CHECKING:
    from collections.abc import Callable

    Target = Callable[[bytes], None]
    Maker = Callable[[random.Random], bytes]

SECRETS: Final = (
    "ghp_{:036d}",
    "sk-ant-api03-{:093d}AA",
    "glpat-{:020d}",
    "xoxb-{:012d}-123456789012-abcdefghijklmnopqrstuvwx",
    "AKIAQ{:015d}",
    "hf_{:034d}",
)
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_UPPER: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


class BrokenLawError(AssertionError):
    """
    A law does not hold for an input.
    """


def holds(condition: object, law: str) -> None:
    """
    Demand that a law holds.

    Raises:
        BrokenLawError: It does not.
    """
    if not condition:
        raise BrokenLawError(law)


def plant(data: bytes) -> tuple[str, str]:
    """Return a text with a secret of a known form on a line of its own, and the secret; both follow from the input."""
    chance = random.Random(data)
    secret = "".join(
        chance.choice(_UPPER if form.startswith("AKIA") else _LETTERS) if char == "0" else char
        for form in [chance.choice(SECRETS)]
        for char in form.format(0)
    )
    if not any(char.isdigit() for char in secret[6:]):
        secret = f"{secret[:-3]}7{secret[-2:]}"  # one without any digit is one of thirty, and looks like a name
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    at = chance.randrange(len(lines) + 1)
    return "\n".join([*lines[:at], secret, *lines[at:]]), secret


def forget() -> None:
    """Forget what was read before, so that nothing depends on it."""
    from benchmarks.quality.ours import forget as forget_texts

    forget_texts()


def extraction(data: bytes) -> None:
    """Facts are never empty, and the class is the same each time."""
    from otel_errcompact.compactor.classify import classify
    from otel_errcompact.errors import RawError

    text = data.decode("utf-8", "surrogateescape")
    first = classify(RawError(text=text))
    holds(first.key and first.facts.type.strip() and first.facts.cause.strip(), "facts are never empty")
    holds("\n" not in first.facts.cause, "a cause is one line")
    forget()
    holds(classify(RawError(text=text)) == first, "the class is the same each time")


def redaction(data: bytes) -> None:
    """Redaction is idempotent, and hides what was planted."""
    from otel_errcompact.redaction.redact import redact

    text, secret = plant(data)
    once = redact(text)
    holds(secret not in once, "a planted secret is hidden by redact")
    holds(redact(once) == once, "redact is idempotent")


def digest(data: bytes) -> None:
    """A digest hides what was planted, at the first sight and at the repeat, and so do cause and template."""
    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.errors import RawError

    text, secret = plant(data)
    ledger = Ledger()
    for _ in range(3):
        observation = ledger.observe("run", RawError(text=text, tool="bash", arguments='{"command": "pytest"}'))
        holds(secret not in observation.text, "a planted secret is hidden in a digest")
    found = observation.found
    holds(secret not in f"{found.facts.cause}{found.facts.location}{found.template}", "labels hide a planted secret")
    holds("\x1b" not in observation.text, "a digest holds no escape sequence")


def detection(data: bytes) -> None:
    """Whether a result is a failure is answered for any text."""
    from otel_errcompact.detector.results import classify_result

    text = data.decode("utf-8", "replace")
    head, _, rest = text.partition("\n")
    for flagged in (None, True, False):
        verdict = classify_result(rest, tool="bash", arguments=head, flagged=flagged)
        holds(verdict.outcome in {"failure", "success", "ignored"}, "an outcome is one of three")


def boundary(data: bytes) -> None:
    """A call takes any argument and any result; the run's report counts it."""
    import otel_errcompact as errcompact

    value = _value(data)
    with errcompact.run() as run:
        with run.tool("tool", arguments=value) as call:
            call.result = value
        with run.tool("tool", arguments={"a": value}) as call:
            if not call.refused:
                call.fail(data.decode("utf-8", "replace"), exit_code=1)
        holds(isinstance(call.text, str), "an agent reads a text")
        report = run.report()
        holds(report.occurrences >= 1, "a failure is counted")
        run.digest()


def transcripts(data: bytes) -> None:
    """A recorded session is read, or said to be none, whatever it holds."""
    from otel_errcompact_lab.replay import open_pipeline
    from otel_errcompact_lab.transcripts import read

    suffix, _, body = data.partition(b"\n")
    name = suffix.decode("ascii", "replace") if suffix in {b".json", b".jsonl", b".traj", b".md"} else ".jsonl"
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        path = Path(folder) / f"session{name}"
        path.write_bytes(body)
        problems: list[object] = []
        with open_pipeline() as pipeline:
            for record in read(path, on_problem=problems.append):
                for _ in pipeline.play(record):
                    pass
            for _ in pipeline.finish():
                pass


def window(data: bytes) -> None:
    """A message list is compacted or refused by an exception of ours, and a second pass does not let it grow."""
    from otel_errcompact.config import ContextOptions
    from otel_errcompact_context import ContextWindow, MemoryArchive, compact_errors, repair

    value = _value(data)
    messages = value if isinstance(value, list) else [value]
    made = ContextWindow(ContextOptions(window_tokens=3_000, reserve_tokens=100), archive=MemoryArchive(), observers=())
    try:
        compaction = made.compact(messages)
        again = ContextWindow(
            ContextOptions(window_tokens=3_000, reserve_tokens=100), archive=MemoryArchive(), observers=()
        ).compact(list(compaction.messages))
        holds(again.tokens_after <= compaction.tokens_after, "a second pass does not grow")
    except ErrcompactError:
        pass
    for act in (repair, compact_errors):
        with suppress(ErrcompactError):
            act(messages)


def refusals(data: bytes) -> None:
    """Whether a context was too long is answered for any body, reply, event, usage and exception."""
    from otel_errcompact_context import (
        overflow_in_body,
        overflow_in_error,
        overflow_in_event,
        overflow_in_reply,
        overflow_in_usage,
    )

    text, value = data.decode("utf-8", "replace"), _value(data)
    for act in (overflow_in_body, overflow_in_reply, overflow_in_event):
        act(value)
    overflow_in_body(text, 400)
    overflow_in_event(data)
    overflow_in_error(ValueError(text))
    error = RuntimeError(value)
    error.body = value  # type: ignore[attr-defined]
    overflow_in_error(error)
    overflow_in_usage(value, 100_000, 50_000)


def spans(data: bytes) -> None:
    """A span with any attributes is taken by the processor, and nothing reaches the application."""
    from opentelemetry.sdk.trace import TracerProvider

    from otel_errcompact.engine.ledger import Ledger
    from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor

    text, value = data.decode("utf-8", "replace"), _value(data)
    ledger = Ledger()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
    names = (
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.tool.call.arguments",
        "error.type",
        "exception.message",
    )
    chance = random.Random(data)
    logging.disable(logging.CRITICAL)
    try:
        attributes: dict[str, Any] = {name: chance.choice((text[:200], "execute_tool", value, 1)) for name in names}
        with provider.get_tracer("fuzz").start_as_current_span("execute_tool bash", attributes=attributes) as span:
            span.add_event("exception", {"exception.type": text[:80], "exception.stacktrace": text})
            span.set_attribute("output.value", text)
    finally:
        logging.disable(logging.NOTSET)
    holds(not ledger.guard.failures, f"no internal failure, but {dict(ledger.guard.failures)}")


def command_line(data: bytes) -> None:
    """`errcompact key`, `digest` and `report` answer any standard input without a fault."""
    from otel_errcompact_lab.cli import main
    from otel_errcompact_lab.cli.output import FAULT

    chance = random.Random(data)
    arguments = chance.choice((["key"], ["digest"], ["key", "--jsonl", "error"], ["digest", "--jsonl", "error"]))
    before = sys.argv, sys.stdin
    said = io.StringIO()
    try:
        sys.argv = ["errcompact", *arguments]
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
        with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")), redirect_stderr(said):
            status = main._run_guarded()  # noqa: SLF001 - `main` ends the process
    finally:
        sys.argv, sys.stdin = before
    holds(status != FAULT, f"{arguments} ends without a fault of its own: {said.getvalue()[-300:]}")


def _value(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def _make_text(chance: random.Random) -> bytes:
    return mutation.mutate(chance.choice(mutation.seeds()), chance)


def _make_body(chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return _make_text(chance)
    value = mutation.mutate_value(chance.choice(_bodies()), chance)
    return json.dumps(value).encode()


def _make_list(chance: random.Random) -> bytes:
    return json.dumps(mutation.mutate_value(chance.choice(mutation.lists()), chance)).encode()


def _make_record(chance: random.Random) -> bytes:
    suffix, body = chance.choice(mutation.records())
    if suffix != ".md" and chance.random() < 0.7:
        lines = body.split(b"\n") if suffix == ".jsonl" else [body]
        number = chance.randrange(len(lines))
        try:
            lines[number] = json.dumps(mutation.mutate_value(json.loads(lines[number]), chance)).encode()
        except ValueError:
            lines[number] = mutation.mutate(lines[number], chance)
        body = b"\n".join(lines)
    else:
        body = mutation.mutate(body, chance)
    return suffix.encode() + b"\n" + body


def _bodies() -> tuple[Any, ...]:
    return (
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
                "code": "context_length_exceeded",
            }
        },
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
        },
        {
            "choices": [{"finish_reason": "length", "message": {"content": ""}}],
            "usage": {"prompt_tokens": 8192, "completion_tokens": 0},
        },
        {"stop_reason": "model_context_window_exceeded", "usage": {"input_tokens": 10, "output_tokens": 0}},
        {
            "detail": [{"loc": ["body", "a"], "msg": "field required", "type": "value_error.missing"}],
            "status_code": 422,
        },
        {"content": [{"type": "text", "text": "Error: no such file"}], "isError": True},
    )


_MEMORY: Final = "/dev/shm" if Path("/dev/shm").is_dir() else None

TARGETS: Final[dict[str, tuple[Target, Maker]]] = {
    "extraction": (extraction, _make_text),
    "redaction": (redaction, _make_text),
    "digest": (digest, _make_text),
    "detection": (detection, _make_text),
    "boundary": (boundary, _make_body),
    "transcripts": (transcripts, _make_record),
    "window": (window, _make_list),
    "refusals": (refusals, _make_body),
    "spans": (spans, _make_text),
    "command line": (command_line, _make_body),
}
