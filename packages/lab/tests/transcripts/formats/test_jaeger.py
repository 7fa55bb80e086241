"""What is read of Jaeger's JSON."""

from __future__ import annotations

import json

import pytest

from otel_errcompact_lab.transcripts import RecordedEvent, RecordedSpan, read

T0 = 1_772_445_600_000_000_000
TRACE = 0x0AF7651916CD43DD8448EB211C80319C


def write(folder, *spans):
    """Write an answer with one trace."""
    path = folder / "trace.json"
    path.write_text(json.dumps({"data": [{"traceID": "a", "spans": spans, "processes": {}}]}))
    return path


def span(**more):
    """Make a span."""
    return {"traceID": "a", "spanID": "1", "operationName": "s", "startTime": 1, "duration": 2, **more}


def read_span(folder, **more):
    """Write one span and read it."""
    (trace,) = read(write(folder, span(**more)), on_problem=pytest.fail)
    return trace.spans[0]


def tag(key, value, kind="string"):
    """Make a tag."""
    return {"key": key, "type": kind, "value": value}


def test_a_span_is_read_whole(sample):
    """Microseconds become nanoseconds, the tags of status, kind and scope become fields, the process the resource."""
    (trace,) = sample("jaeger.json")
    assert trace.run_id == "0af7651916cd43dd8448eb211c80319c"
    assert trace.spans[0] == RecordedSpan(
        trace_id=TRACE,
        span_id=0x00F067AA0BA902B7,
        parent_id=0xB7AD6B7169203331,
        name="execute_tool db.query",
        start_ns=T0 + 100_000,
        end_ns=T0 + 200_000,
        kind="internal",
        status="error",
        status_description="ConnectionError: connection refused",
        attributes={"gen_ai.tool.name": "db.query", "retries": 3, "share": 0.5, "cached": False},
        events=(
            RecordedEvent(
                name="exception",
                time_ns=T0 + 200_000,
                attributes={"exception.type": "ConnectionError", "exception.message": "connection refused"},
            ),
        ),
        resource={"service.name": "shop-agent", "service.namespace": "demo"},
    )


def test_children_come_before_their_parents(sample):
    """Jaeger lists spans in any order; they are put in the order in which they ended."""
    (trace,) = sample("jaeger.json")
    assert [(one.name, one.parent_id is None, one.kind, one.status, one.scope_name) for one in trace.spans] == [
        ("execute_tool db.query", False, "internal", "error", ""),
        ("invoke_agent shop", True, "server", "ok", "shop"),
    ]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        pytest.param([tag("otel.status_code", "ERROR")], "error", id="status"),
        pytest.param([tag("otel.status_code", "OK"), tag("error", True, "bool")], "ok", id="the-status-goes-first"),
        pytest.param([tag("error", True, "bool")], "error", id="error-tag"),
        pytest.param([tag("error", "true")], "error", id="error-text"),
        pytest.param([tag("error", False, "bool")], "unset", id="no-error"),
        pytest.param([], "unset", id="nothing"),
    ],
)
def test_status(tmp_path, tags, expected):
    """The OpenTelemetry status decides; without it the tag `error`."""
    assert read_span(tmp_path, tags=tags).status == expected


@pytest.mark.parametrize(
    ("of_tag", "expected"),
    [
        pytest.param(tag("k", "x"), "x", id="string"),
        pytest.param(tag("k", True, "bool"), True, id="bool"),
        pytest.param(tag("k", 7, "int64"), 7, id="int"),
        pytest.param(tag("k", "7", "int64"), 7, id="int-as-text"),
        pytest.param({"key": "k", "value": 7}, 7, id="untyped"),
        pytest.param(tag("k", 0.5, "float64"), 0.5, id="float"),
        pytest.param(tag("k", {"a": 1}), '{"a":1}', id="object"),
        pytest.param(tag("k", None), None, id="null"),
    ],
)
def test_values_of_tags(tmp_path, of_tag, expected):
    """Tags keep their types; whatever is no scalar becomes JSON."""
    assert read_span(tmp_path, tags=[of_tag]).attributes.get("k") == expected


@pytest.mark.parametrize(
    ("fields", "parent"),
    [
        pytest.param({"references": [{"refType": "CHILD_OF", "spanID": "2a"}]}, 42, id="child-of"),
        pytest.param({"references": [{"refType": "FOLLOWS_FROM", "spanID": "2a"}]}, None, id="follows-from"),
        pytest.param({"parentSpanID": "2a"}, 42, id="older-field"),
        pytest.param({}, None, id="root"),
    ],
)
def test_parents(tmp_path, fields, parent):
    """The parent is the reference `CHILD_OF`; a span that follows another is not its child."""
    assert read_span(tmp_path, **fields).parent_id == parent


def test_a_span_without_times_begins_with_the_century(tmp_path):
    """Made-up times begin at a fixed moment; a log without a time is at its span's start."""
    found = read_span(tmp_path, startTime=None, logs=[{"fields": [tag("event", "exception")]}])
    assert (found.start_ns, found.events[0].time_ns) == (946_684_800_000_000_000, 946_684_800_000_000_000)


def test_a_span_without_ids_is_skipped(tmp_path):
    """It is reported with its way in the file, and the others are read."""
    path = write(tmp_path, span(spanID="not hex"), span(), span(traceID=None))
    problems = []
    (trace,) = read(path, on_problem=problems.append)
    assert len(trace.spans) == 1
    assert [str(problem) for problem in problems] == [
        f"{path}:1: data[0].spans[{index}] needs a traceID and a spanID of at most 32 hex digits and is skipped"
        for index in (0, 2)
    ]


def test_a_parent_id_that_cannot_be_read_makes_a_root(tmp_path):
    """The span is kept, and the id is reported."""
    path = write(tmp_path, span(references=[{"refType": "CHILD_OF", "spanID": "zz"}]))
    problems = []
    (trace,) = read(path, on_problem=problems.append)
    assert trace.spans[0].parent_id is None
    assert [str(problem) for problem in problems] == [
        f"{path}:1: data[0].spans[0].references[0].spanID must be at most 32 hex digits; it is ignored",
    ]


def test_a_time_out_of_range_is_reported(tmp_path):
    """A start in nanoseconds instead of microseconds would not fit into 64 bits."""
    problems = []
    (trace,) = read(write(tmp_path, span(startTime=2**62)), on_problem=problems.append)
    assert trace.spans[0].start_ns == 946_684_800_000_000_000
    assert [problem.problem for problem in problems] == [
        (
            "data[0].spans[0].startTime must be a whole number from 0 to 4611686018427387, "
            "not 4611686018427387904; it is ignored"
        ),
    ]


def test_a_trace_without_spans_is_none(tmp_path):
    """An empty trace beside others gives nothing."""
    assert list(read(write(tmp_path), on_problem=pytest.fail)) == []


def test_a_line_that_is_no_answer_is_reported(tmp_path):
    """Among answers, one a line, a list is skipped with a message."""
    path = write(tmp_path, span())
    path.write_text(path.read_text() + "\n[]\n")
    problems = []
    assert len(list(read(path, on_problem=problems.append))) == 1
    assert [str(problem) for problem in problems] == [f"{path}:2: must be an object, not a list; it is ignored"]
