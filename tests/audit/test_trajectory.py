"""The audit sink: every raw error whole, in a file that other tools can read."""

from __future__ import annotations

import base64
import errno
import json
import os
import stat
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context
from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, Status, StatusCode

from otel_errcompact.audit import line_file, otlp_json
from otel_errcompact.audit.line_file import MAX_PENDING
from otel_errcompact.audit.otlp_json import build_span_envelope
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.events import Arrived
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import Operation, RawError, SpanRef
from otel_errcompact.otel.spans.processor import ErrorCompactionSpanProcessor
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable


def spied_quote(written: list[int]) -> Callable[[str], str]:
    """An encoder of strings that notes how much it has written."""

    def quote(value: str) -> str:
        text = json.dumps(value)
        written.append(len(text))
        return text

    return quote


HERE = SpanRef(trace_id=0x0123456789ABCDEF0123456789ABCDEF, span_id=0xFEDCBA9876543210)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "trajectory.jsonl"


@pytest.fixture
def sink(path: Path) -> TrajectoryFile:
    return TrajectoryFile(TrajectoryOptions(path=path), resource=Resource({"service.name": "shop"}))


def raw(text: str = "KeyError: 'a'", **details: Any) -> RawError:
    return RawError(**{"text": text, "type": "KeyError", "message": "'a'", "tool": "db", "span": HERE, **details})


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines that hold raw errors."""
    found = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    return [line for line in found if "resourceSpans" in line]


def span_of(line: dict[str, Any]) -> dict[str, Any]:
    (resource,) = line["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    (span,) = scope["spans"]
    return span


def attributes(owner: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in owner["attributes"]}


def parsed(line: dict[str, Any]) -> Span:
    """The span as protobuf reads it, which has base64 where OTLP/JSON has hexadecimal ids."""
    line = json.loads(json.dumps(line))
    span = span_of(line)
    for name in ("traceId", "spanId"):
        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return json_format.Parse(json.dumps(line), TracesData()).resource_spans[0].scope_spans[0].spans[0]


def kept(line: dict[str, Any]) -> str:
    """The raw error that a line keeps, exactly."""
    (event,) = parsed(line).events
    found = {item.key: item.value for item in event.attributes}
    if "errcompact.raw" in found:
        return found["errcompact.raw"].bytes_value.decode("utf-8", "surrogatepass")
    return found["exception.stacktrace"].string_value if "exception.stacktrace" in found else ""


class TestLine:
    def test_tool_call(self, sink):
        """A tool's failure is a span with the ids, the tool, the run, and the whole text as an exception event."""
        failure = raw(call_id="c1", arguments='{"id": 1}', agent="shop", time_ns=5, exit_code=2)
        line = json.loads(sink.encode("run-1", failure))
        span = span_of(line)
        assert line["resourceSpans"][0]["resource"]["attributes"] == [
            {"key": "service.name", "value": {"stringValue": "shop"}}
        ]
        assert line["resourceSpans"][0]["scopeSpans"][0]["scope"] == {"name": "otel_errcompact"}
        assert (span["traceId"], span["spanId"]) == ("0123456789abcdef0123456789abcdef", "fedcba9876543210")
        assert (span["name"], span["startTimeUnixNano"], span["endTimeUnixNano"]) == ("execute_tool db", "5", "5")
        assert span["status"] == {"code": 2}
        assert span["kind"] == 1
        assert attributes(span) == {
            "gen_ai.conversation.id": "run-1",
            "gen_ai.agent.name": "shop",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "db",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"id": 1}',
            "process.exit.code": "2",
        }
        (event,) = span["events"]
        assert (event["name"], event["timeUnixNano"]) == ("exception", "5")
        assert attributes(event) == {
            "exception.type": "KeyError",
            "exception.message": "'a'",
            "exception.stacktrace": "KeyError: 'a'",
        }

    def test_model_call(self, sink):
        """A model call's failure carries its operation and no tool."""
        span = span_of(json.loads(sink.encode("r", raw(tool="chat", operation=Operation("chat")))))
        assert span["name"] == "chat"
        assert attributes(span)["gen_ai.operation.name"] == "chat"
        assert "gen_ai.tool.name" not in attributes(span)

    def test_plain_span(self, sink):
        """A plain span's failure carries the span's name and no operation."""
        span = span_of(json.loads(sink.encode("r", raw(tool="GET /orders", boundary=False))))
        assert span["name"] == "GET /orders"
        assert "gen_ai.operation.name" not in attributes(span)

    def test_nameless_tool(self, sink):
        """A call whose tool is not known has just the operation as its name."""
        assert span_of(json.loads(sink.encode("r", raw(tool=""))))["name"] == "execute_tool"

    def test_no_span(self, path):
        """A failure that no span recorded gets ids and a time of its own."""

        class Ids:
            def generate_trace_id(self) -> int:
                return 1

            def generate_span_id(self) -> int:
                return 2

        sink = TrajectoryFile(TrajectoryOptions(path=path), ids=Ids(), clock_ns=lambda: 7)
        span = span_of(json.loads(sink.encode("r", raw(span=None))))
        assert (span["traceId"], span["spanId"], span["startTimeUnixNano"]) == ("0" * 31 + "1", "0" * 15 + "2", "7")

    def test_default_resource(self, path, monkeypatch):
        """Without a resource of its own it carries that of the environment, but not which SDK there is."""
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod")
        line = json.loads(TrajectoryFile(TrajectoryOptions(path=path)).encode("r", raw()))
        carried = attributes(line["resourceSpans"][0]["resource"])
        assert carried["deployment.environment.name"] == "prod"
        assert not any(name.startswith("telemetry.sdk.") for name in carried)

    def test_protobuf_reads_it(self, sink):
        """A line is what protobuf takes for traces."""
        span = parsed(json.loads(sink.encode("r", raw())))
        assert span.trace_id == HERE.trace_id.to_bytes(16, "big")
        assert span.status.code == 2

    def test_nameless_error(self, sink):
        """An error without type and message has its text alone, which is said once."""
        line = sink.encode("r", raw("it broke", type="", message=""))
        (event,) = span_of(json.loads(line))["events"]
        assert attributes(event) == {"exception.stacktrace": "it broke"}
        assert line.count(b"it broke") == 1


class TestWhole:
    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("", id="empty"),
            pytest.param("a\nb\r\nc\u2028d\u0085e\x00f", id="all ends of lines, and NUL"),
            pytest.param("\udcff\ud800 broken \ude00", id="lone surrogates"),
            pytest.param("\\udcff", id="what an escape looks like"),
            pytest.param("日本語 🙂 \u202e \ufeff", id="other scripts"),
            pytest.param('"quotes" \\ \x1b[31mred\x1b[0m', id="quotes and ANSI"),
        ],
    )
    def test_bytes(self, sink, text):
        """The raw error comes back byte for byte."""
        assert kept(json.loads(sink.encode("r", raw(text)))) == text

    @given(text=st.text(st.characters(exclude_categories=()), max_size=60))
    def test_any_text(self, text):
        """Whatever the text is made of."""
        sink = TrajectoryFile(TrajectoryOptions(), resource=Resource({}))
        line = sink.encode("r", raw(text, message=text, tool=text, arguments=text))
        assert line.count(b"\n") == 1
        assert line.isascii()
        assert kept(json.loads(line)) == text

    def test_visible_escape(self, sink):
        """What a text attribute cannot hold is written there as an escape, and exactly beside it."""
        (event,) = span_of(json.loads(sink.encode("r", raw("file \udcff missing"))))["events"]
        assert attributes(event)["exception.stacktrace"] == "file \\udcff missing"
        assert base64.b64decode(attributes(event)["errcompact.raw"]) == b"file \xed\xb3\xbf missing"

    def test_span_limits(self, path):
        """Where the span limits cut the stack trace, the file still has it whole."""
        provider = TracerProvider(span_limits=SpanLimits(max_attribute_length=40), shutdown_on_exit=False)
        ledger = Ledger()
        ledger.listeners.add(TrajectoryFile(TrajectoryOptions(path=path)))
        provider.add_span_processor(ErrorCompactionSpanProcessor(ledger))
        error = ValueError("the value 17 is too large for this column")
        with pytest.raises(ValueError, match="17"), provider.get_tracer("app").start_as_current_span("work"):
            raise error
        (line,) = lines(path)
        assert kept(line).startswith("Traceback (most recent call last):\n")
        assert kept(line).endswith("ValueError: the value 17 is too large for this column\n")
        assert traceback.format_exception(error)[-2] in kept(line)

    def test_larger_than_a_file(self, path):
        """A text that is larger than a whole file loses its middle, visibly."""
        sink = TrajectoryFile(TrajectoryOptions(path=path, max_bytes=65_536))
        sink.write_raw(Arrived(run_id="r", raw=raw("a" * 50_000 + "b" * 50_000)))
        assert path.stat().st_size < 65_536
        text = kept(lines(path)[0])
        assert text == (
            "a" * 2_048 + "\n... 95904 characters cut: the trajectory's files are smaller ...\n" + "b" * 2_048
        )

    @pytest.mark.parametrize("character", ["\x00", "\x1b", "\n", "ü", "\u2028", "😀", "\ud800"])
    def test_larger_than_a_file_once_it_is_escaped(self, path, character, monkeypatch):
        """A text that only its escapes make too large is cut the same, and is not encoded whole to be thrown away."""
        sink = TrajectoryFile(TrajectoryOptions(path=path, max_bytes=65_536))
        encoded: list[int] = []
        monkeypatch.setattr(otlp_json, "quote", spied_quote(encoded))
        sink.write_raw(Arrived(run_id="r", raw=raw("a" * 1_000 + character * 63_000)))
        assert kept(lines(path)[0]).startswith("a" * 1_000 + character * 1_048 + "\n... 59904 characters cut: ")
        assert path.stat().st_size < 65_536
        assert sum(encoded) < 4 * 65_536

    def test_larger_than_a_file_until_it_is_redacted(self, path):
        """What redaction takes away does not count."""
        key = "-----BEGIN PRIVATE KEY-----\n" + "aB3d" * 20_000 + "\n-----END PRIVATE KEY-----"
        sink = TrajectoryFile(TrajectoryOptions(path=path, max_bytes=65_536, redact=True))
        sink.write_raw(Arrived(run_id="r", raw=raw(f"cannot read {key} from the file")))
        assert "characters cut" not in kept(lines(path)[0])

    @given(st.text(min_size=1, max_size=20), st.integers(1, 3_000), st.integers(1, 100_000))
    def test_how_long_a_text_gets(self, piece, times, limit):
        """A text is called too long for its line only if it is; one that is even without escapes always."""
        text = piece * times
        size = len(json.dumps(text)) - 2
        assert otlp_json.is_longer(text, limit) <= (size > limit)
        assert otlp_json.is_longer(text, limit) >= (len(text) > limit)

    def test_redaction(self, path):
        """Raw means raw, unless told otherwise."""
        secret = "ghp_" + "a1B2" * 9
        failure = raw(f"bad token {secret}", message=f"token {secret}", arguments=f'{{"token": "{secret}"}}')
        plain = TrajectoryFile(TrajectoryOptions(path=path)).encode("r", failure)
        redacted = TrajectoryFile(TrajectoryOptions(path=path, redact=True)).encode("r", failure)
        assert plain.count(secret.encode()) == 3
        assert secret.encode() not in redacted


class TestFile:
    def test_one_line_per_failure(self, sink, path):
        """Each failure is one line, there as soon as it happened."""
        for number in range(3):
            sink.write_raw(Arrived(run_id="r", raw=raw(f"no {number}")))
            assert len(lines(path)) == number + 1
        assert [kept(line) for line in lines(path)] == ["no 0", "no 1", "no 2"]

    def test_listens_to_a_ledger(self, sink, path):
        """It hears of counted and of handled failures, before anything else is done with them."""
        ledger = Ledger()
        ledger.listeners.add(sink)
        ledger.observe("r", raw("counted"))
        ledger.handled("r", raw("handled"))
        assert [kept(line) for line in lines(path)] == ["counted", "handled"]

    def test_private(self, sink, path):
        """Only the owner may read the file."""
        sink.write_raw(Arrived(run_id="r", raw=raw()))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_becomes_private(self, sink, path):
        """So is one that was there before and open to others."""
        path.parent.mkdir()
        path.write_text("")
        path.chmod(0o664)
        sink.write_raw(Arrived(run_id="r", raw=raw()))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    @pytest.fixture
    def without_permissions(self, path, monkeypatch):
        """A file that others may write to, where permissions cannot be changed."""

        def refuse(file: int, mode: int) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "fchmod", refuse)
        path.parent.mkdir()
        path.write_text("")
        path.chmod(0o666)

    def test_of_another_user(self, sink, path, without_permissions, monkeypatch):
        """Another user's file that cannot be made private holds no raw error."""
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        with pytest.raises(PermissionError, match="another user's file"):
            sink.write_raw(Arrived(run_id="r", raw=raw()))
        assert path.read_text() == ""

    def test_file_system_without_permissions(self, sink, path, without_permissions):
        """Some have none of their own: raw errors are kept there all the same."""
        sink.write_raw(Arrived(run_id="r", raw=raw("first")))
        assert [kept(line) for line in lines(path)] == ["first"]

    @pytest.mark.parametrize("is_read", [True, False], ids=["with a reader", "without a reader"])
    def test_no_fifo(self, sink, path, is_read):
        """A FIFO does not block the program, and gets nothing."""
        path.parent.mkdir()
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if is_read else None
        with pytest.raises(OSError, match="regular file only"):
            sink.write_raw(Arrived(run_id="r", raw=raw()))
        if reader is not None:
            assert os.read(reader, 1) == b""
            os.close(reader)

    def test_no_link(self, sink, path, tmp_path):
        """A link leads raw errors to no other file."""
        other = tmp_path / "other"
        other.write_text("precious")
        path.parent.mkdir()
        path.symlink_to(other)
        with pytest.raises(OSError, match="regular file only"):
            sink.write_raw(Arrived(run_id="r", raw=raw()))
        assert other.read_text() == "precious"

    def test_no_device(self):
        """Nor does a device."""
        with pytest.raises(OSError, match="regular file only"):
            TrajectoryFile(TrajectoryOptions(path=Path(os.devnull))).write_raw(Arrived(run_id="r", raw=raw()))

    def test_a_file_after_a_link(self, sink, path, tmp_path):
        """What was refused is kept, and written once a file is there."""
        path.parent.mkdir()
        path.symlink_to(tmp_path / "other")
        with pytest.raises(OSError, match="regular file only"):
            sink.write_raw(Arrived(run_id="r", raw=raw("first")))
        path.unlink()
        sink.write_raw(Arrived(run_id="r", raw=raw("second")))
        assert [kept(line) for line in lines(path)] == ["first", "second"]

    def test_appends(self, sink, path):
        """What is there already stays."""
        sink.write_raw(Arrived(run_id="r", raw=raw("first")))
        sink.close()
        sink.close()
        TrajectoryFile(TrajectoryOptions(path=path)).write_raw(Arrived(run_id="r", raw=raw("second")))
        assert [kept(line) for line in lines(path)] == ["first", "second"]

    def test_relative_path(self, in_tmp):
        """A relative path is meant from where the process is when it starts."""
        sink = TrajectoryFile(TrajectoryOptions(path=Path("t.jsonl")))
        assert sink.path == in_tmp / "t.jsonl"

    def test_suppresses_instrumentation(self, sink, monkeypatch):
        """What instruments files is kept from recording our own writing."""
        seen: list[object] = []
        write = os.write

        def watched(file: int, data: bytes) -> int:
            seen.append(otel_context.get_value(_SUPPRESS_INSTRUMENTATION_KEY))
            return write(file, data)

        monkeypatch.setattr(os, "write", watched)
        sink.write_raw(Arrived(run_id="r", raw=raw()))
        assert seen == [True]
        assert otel_context.get_value(_SUPPRESS_INSTRUMENTATION_KEY) is None


class TestRotation:
    def options(self, path: Path, backups: int = 2) -> TrajectoryOptions:
        return TrajectoryOptions(path=path, max_bytes=65_536, backups=backups)

    def fill(self, sink: TrajectoryFile, number: int) -> None:
        """A line of more than half a file."""
        sink.write_raw(Arrived(run_id="r", raw=raw(f"no {number}" + "x" * 40_000)))

    def test_bounded(self, path):
        """A full file becomes `.1`, and so on; the oldest goes."""
        sink = TrajectoryFile(self.options(path))
        for number in range(5):
            self.fill(sink, number)
        assert sorted(file.name for file in path.parent.iterdir()) == [
            "trajectory.jsonl",
            "trajectory.jsonl.1",
            "trajectory.jsonl.2",
        ]
        names = [path, path.with_name("trajectory.jsonl.1"), path.with_name("trajectory.jsonl.2")]
        assert [kept(lines(name)[0])[:4] for name in names] == ["no 4", "no 3", "no 2"]
        assert all(name.stat().st_size <= 65_536 for name in names)

    def test_counted(self, path):
        """What is in the files and what rotation removed is all that was written."""
        guard = Guard()
        sink = TrajectoryFile(self.options(path), guard=guard)
        for number in range(7):
            self.fill(sink, number)
        kept = sum(len(lines(file)) for file in path.parent.iterdir())
        assert guard.failures == {"trajectory_rotated": 4}
        assert kept + guard.failures["trajectory_rotated"] == 7

    def test_no_backups(self, path):
        """Without backups a full file goes at once."""
        sink = TrajectoryFile(self.options(path, backups=0))
        for number in range(3):
            self.fill(sink, number)
        assert [file.name for file in path.parent.iterdir()] == ["trajectory.jsonl"]
        assert [kept(line)[:4] for line in lines(path)] == ["no 2"]

    def test_rotated_by_another_process(self, path):
        """A file that another process has moved away is left to it: the next line goes to the new one."""
        sink = TrajectoryFile(self.options(path))
        sink.write_raw(Arrived(run_id="r", raw=raw("first")))
        path.rename(path.with_name("moved"))
        sink.write_raw(Arrived(run_id="r", raw=raw("second")))
        assert [kept(line) for line in lines(path)] == ["second"]

    def test_another_process_is_moving_it(self, path, monkeypatch):
        """Nobody waits for another process that is moving the file: the line goes to the full one."""
        sink = TrajectoryFile(self.options(path))
        monkeypatch.setattr(line_file, "_lock_file", lambda file: False)
        for number in range(2):
            self.fill(sink, number)
        assert [kept(line)[:4] for line in lines(path)] == ["no 0", "no 1"]

    def test_lock(self, sink, path):
        """A file that another one has locked is not locked again."""
        sink.write_raw(Arrived(run_id="r", raw=raw()))
        with path.open() as one, path.open() as two:
            assert line_file._lock_file(one.fileno())
            assert not line_file._lock_file(two.fileno())


class TestDiskErrors:
    @pytest.fixture
    def full_disk(self, monkeypatch) -> list[bool]:
        """A disk that is full while the list is not empty."""
        full = [True]
        write = os.write

        def refuse(file: int, data: bytes) -> int:
            if full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(file, data)

        monkeypatch.setattr(os, "write", refuse)
        return full

    def test_never_reaches_the_agent(self, sink, full_disk, monkeypatch, caplog):
        """A full disk is counted and said once, and the agent gets its digest all the same."""
        monkeypatch.setattr(Guard, "strict", False)
        ledger = Ledger()
        ledger.listeners.add(sink)
        assert "KeyError" in ledger.observe("r", raw()).text
        assert ledger.guard.failures == {"trajectory": 3}  # the raw error, the run's begin, what became of it
        (record,) = caplog.records
        assert record.levelname == "WARNING"
        assert record.getMessage().startswith("trajectory: [Errno 28] No space left on device")
        assert "; raw errors are kept in no file until it can be written; name another" in record.getMessage()

    def test_tried_again(self, sink, path, full_disk):
        """What could not be written is written with the next failure, in order."""
        for number in range(2):
            with pytest.raises(OSError, match="No space"):
                sink.write_raw(Arrived(run_id="r", raw=raw(f"no {number}")))
        full_disk.clear()
        sink.write_raw(Arrived(run_id="r", raw=raw("no 2")))
        assert [kept(line) for line in lines(path)] == ["no 0", "no 1", "no 2"]
        assert sink.dropped == 0

    def test_bounded(self, sink, path, full_disk):
        """What waits does not pile up: the oldest is given up, and that is counted."""
        for number in range(MAX_PENDING + 2):
            with pytest.raises(OSError, match="No space"):
                sink.write_raw(Arrived(run_id="r", raw=raw(f"no {number}")))
        full_disk.clear()
        sink.write_raw(Arrived(run_id="r", raw=raw("the last")))
        assert len(lines(path)) == MAX_PENDING
        assert kept(lines(path)[-1]) == "the last"
        assert sink.dropped == 3

    def test_given_up_at_the_end(self, path, full_disk):
        """What still waits when the file is closed is written, or counted as lost."""
        guard = Guard()
        sink = TrajectoryFile(TrajectoryOptions(path=path), guard=guard)
        for number in range(3):
            with pytest.raises(OSError, match="No space"):
                sink.write_raw(Arrived(run_id="r", raw=raw(f"no {number}")))
        sink.close()
        assert guard.failures == {"trajectory_dropped": 3}
        with pytest.raises(OSError, match="No space"):
            sink.write_raw(Arrived(run_id="r", raw=raw("no 3")))
        full_disk.clear()
        sink.close()
        assert [kept(line) for line in lines(path)] == ["no 3"]
        assert guard.failures == {"trajectory_dropped": 3}

    def test_raw_errors_outlast_the_rest(self, sink, path, full_disk, monkeypatch):
        """What is told besides gives way to raw errors."""
        monkeypatch.setattr(Guard, "strict", False)
        ledger = Ledger()
        ledger.listeners.add(sink)
        for number in range(MAX_PENDING):
            ledger.observe("r", raw(f"no {number}"))
        full_disk.clear()
        sink.write_raw(Arrived(run_id="r", raw=raw("the last")))
        assert [kept(line) for line in lines(path)] == [
            *(f"no {number}" for number in range(1, MAX_PENDING)),
            "the last",
        ]

    def test_unreachable_folder(self, tmp_path):
        """A folder that cannot be made is the disk's error too."""
        (tmp_path / "file").write_text("")
        sink = TrajectoryFile(TrajectoryOptions(path=tmp_path / "file" / "t.jsonl"))
        with pytest.raises(OSError, match="file"):
            sink.write_raw(Arrived(run_id="r", raw=raw()))

    def test_short_write(self, sink, path, monkeypatch):
        """A line that was written in part is ended and written again, so that only its torn piece is lost."""
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
        with pytest.raises(OSError, match="only 10 of"):
            sink.write_raw(Arrived(run_id="r", raw=raw("whole")))
        monkeypatch.setattr(os, "write", write)
        sink.write_raw(Arrived(run_id="r", raw=raw("next")))
        torn, *rest = path.read_bytes().split(b"\n")[:-1]
        assert torn == b'{"resource'
        assert [kept(json.loads(line)) for line in rest] == ["whole", "next"]


def needs_fork(test: Callable[..., None]) -> Callable[..., None]:
    test = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this platform")(test)
    # Python 3.12 warns of a fork in a process with threads, which the SDK has.
    return pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")(test)


class TestManyWriters:
    def test_threads(self, sink, path):
        """Many threads write whole lines."""

        def work(number: int) -> None:
            for step in range(25):
                sink.write_raw(Arrived(run_id="r", raw=raw(f"{number}-{step}")))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        assert {kept(line) for line in lines(path)} == {f"{n}-{step}" for n in range(8) for step in range(25)}

    @pytest.mark.programs
    @needs_fork
    def test_processes(self, path):
        """Several processes share one file, rotate it between them, and lose no line."""

        def work(number: int) -> None:
            sink = TrajectoryFile(TrajectoryOptions(path=path, max_bytes=65_536, backups=40))
            for step in range(60):
                sink.write_raw(Arrived(run_id="r", raw=raw(f"{number}-{step} " + "x" * 4_000)))

        children = []
        for number in range(4):
            children.append(os.fork())
            if children[-1] == 0:
                try:
                    work(number)
                    os._exit(0)
                finally:
                    os._exit(1)
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0, 0]
        texts = [kept(line).split()[0] for file in path.parent.iterdir() for line in lines(file)]
        assert len(list(path.parent.iterdir())) > 1
        assert sorted(texts) == sorted(f"{number}-{step}" for number in range(4) for step in range(60))

    @pytest.mark.programs
    @needs_fork
    def test_fork(self, sink, path, monkeypatch):
        """A child process opens the file anew, and leaves what waits to its parent."""
        sink.write_raw(Arrived(run_id="r", raw=raw("parent")))
        sink._raws._pending.append(b"waits\n")
        child = os.fork()
        if child == 0:
            sink.write_raw(Arrived(run_id="r", raw=raw("child")))
            os._exit(len(sink._raws._pending))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert [kept(line) for line in lines(path)] == ["parent", "child"]
        assert list(sink._raws._pending) == [b"waits\n"]


@pytest.mark.parametrize(
    "details",
    [
        pytest.param({"time_ns": 5, "agent": "shop", "call_id": "c-1", "arguments": '{"a": 1}'}, id="of a call"),
        pytest.param({"time_ns": 5, "exit_code": -9, "message": "", "type": ""}, id="with an exit code"),
        pytest.param({"time_ns": 5, "text": "caf\u00e9 \ud800 \u2028\n", "message": "\ud800"}, id="no UTF-8"),
        pytest.param({"time_ns": 5, "text": "", "message": "", "type": "", "tool": "", "boundary": False}, id="empty"),
    ],
)
def test_a_line_is_what_the_official_encoder_makes_of_it(sink: TrajectoryFile, details: dict[str, Any]) -> None:
    """We write OTLP/JSON by hand; read as protobuf it is the same span, field by field."""
    line = json.loads(sink.encode("run-1", raw(**details)))
    ours = parsed(line)
    (event,) = ours.events
    kept_attributes = {
        item.key: getattr(item.value, item.value.WhichOneof("value")) for item in (*ours.attributes, *event.attributes)
    }
    own = {item.key for item in ours.attributes}
    context = SpanContext(HERE.trace_id, HERE.span_id, is_remote=False)
    official = ReadableSpan(
        ours.name,
        context=context,
        attributes={name: value for name, value in kept_attributes.items() if name in own},
        events=(
            Event("exception", {key: value for key, value in kept_attributes.items() if key not in own}, timestamp=5),
        ),
        status=Status(StatusCode.ERROR),
        start_time=5,
        end_time=5,
    )
    encoded = encode_spans((official,)).resource_spans[0].scope_spans[0].spans[0]
    encoded.ClearField("flags")  # of a parent, which there is none
    assert ours == encoded


ATTRIBUTE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
)


@given(
    attributes=st.dictionaries(
        st.text("abc.", min_size=1, max_size=9), st.one_of(ATTRIBUTE, st.lists(st.booleans()), st.lists(st.floats()))
    ),
    schema=st.sampled_from(["", "https://opentelemetry.io/schemas/1.37.0"]),
)
def test_what_is_around_a_line_is_what_the_official_encoder_makes_of_it(
    attributes: dict[str, Any], schema: str
) -> None:
    """To the byte, whatever the resource holds."""
    resource = Resource(attributes, schema)
    scope = InstrumentationScope("otel_errcompact")
    context = SpanContext(1, 1, is_remote=False)
    span = ReadableSpan("", context=context, resource=resource, instrumentation_scope=scope, start_time=0, end_time=0)
    official = json_format.MessageToDict(encode_spans((span,)), use_integers_for_enums=True)
    official["resourceSpans"][0]["scopeSpans"][0]["spans"] = ["here"]
    head, tail = build_span_envelope(resource)
    assert f'{head}"here"{tail}' == json.dumps(official, separators=(",", ":"))
