"""XML, forms, outlines, logs and literals, decoded to the same values as JSON."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.extract.payload.documents import read_form, read_outline, read_pairs, read_xml
from otel_errcompact.extract.payload.literals import find_values, parse
from otel_errcompact.extract.payload.logs import read_log
from tests.clock import costs_little
from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a><b>1 &lt; 2</b><b>3</b><c x='y'/></a>", {"a": {"b": ["1 < 2", "3"], "c": {"x": "y"}}}),
        ("<a><b/><b/><b/>tail</a>", {"a": {"b": ["", "", ""], "#text": "tail"}}),
        ("<?xml version='1.0'?><!-- <x> --><a><![CDATA[raw > 1]]></a>", {"a": "raw > 1"}),
        ("<a><![CDATA[one <b> two]]></a></z>", {"a": "one b> two"}),
        ("no tags", None),
        ("1 < 2 and 3 > 2", None),
    ],
)
def test_xml(text, expected):
    """Elements become objects; entities of a document's own stay as they are."""
    assert read_xml(text) == expected


def test_deep_xml_is_flat():
    """What stands deeper than anybody nests belongs to its parents."""
    assert read_xml("<a>" * 100 + "x" + "</a>" * 100) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("error=invalid_grant&error_description=Token+expired", {"error": "invalid_grant", "error_description":
         "Token expired"}),
        ("a=1", None),
        ("a=1 & b=2", None),
    ],
)  # fmt: skip
def test_form(text, expected):
    """A form is one line of pairs."""
    assert read_form(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("error:\n  code: 12\n  message: 'no way'\n", {"error": {"code": 12, "message": "no way"}}),
        ("errors:\n- field: a\n  reason: bad\n- b c\nok: true\n", {"errors": [{"field": "a", "reason": "bad"}, "b c"],
                                                                  "ok": True}),
        ("---\na: 1\nb:\n  - x\n  - y\n", {"a": 1, "b": ["x", "y"]}),
        ("a: 1\nno colon here", None),
        ("- a\n- b", None),
        ("- a: 1\n- b: 2", None),
        ("a: 1\nb:\n  c: 2\n  - d", None),
        ("a: 1", None),
        ("a:\n- b\n  c: 1", None),
    ],
)  # fmt: skip
def test_outline(text, expected):
    """Names and values by indentation; any other line makes it no outline."""
    assert read_outline(text) == expected


def test_pairs():
    """A record of pairs has nothing else in its line."""
    assert read_pairs('level=error msg="no \\"route\\"" n=3') == {"level": "error", "msg": 'no "route"', "n": "3"}
    assert read_pairs("level=error and more") == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{'a': 'It\\'s', 'b': [1, 2.5, None, True]}", {"a": "It's", "b": [1, 2.5, None, True]}),
        ("{'at': datetime.datetime(2026, 1, 2), 'n': Decimal('1.5')}", {"at": "datetime.datetime(2026, 1, 2)",
                                                                        "n": "1.5"}),
        ("{'e': ErrorDetail(string='no', code='bad')}", {"e": {"string": "no", "code": "bad"}}),
        ("{ code: 'X', inner: [Object], at: 10:00:00Z, f: <ref *1> Client }", {"code": "X", "inner": ["Object"],
         "at": "10:00:00Z", "f": "<ref *1>"}),
        ('{:status=>404, "message"=>"no"}', {"status": 404, "message": "no"}),
        ("{'a', 'b'}", ["a", "b"]),
        ("{'a': ('x' 'y', b'z', u'\\u00e9\\x41\\n')}", {"a": ["xy", "z", "\u00e9A\n"]}),
        ("{'a': <Foo object at 0x12>}", {"a": "<Foo object at 0x12>"}),
        ("{'a': not a word <b> here}", {"a": "not a word <b> here"}),
        ("{'error': {'message': 'cut o", {"error": {"message": "cut o"}}),
        ("{'a': {'b': ", {"a": {}}),
        ("{'a': f(1, ", {"a": 1}),
        ("{'a': 'x\\", {"a": "x"}),
        ("{'a'", None),
        ("{', [1, 2]", None),
        ("{'a' 1}", None),
        ("{'a': }", None),
        ("{(1): 2}", {"[1]": 2}),
        ("{'a': ,}", None),
    ],
)  # fmt: skip
def test_literals(text, expected):
    """Data as languages print it is data, also cut off."""
    assert parse(text).value == expected


def test_literals_are_bounded():
    """Values nested without end are none, and structures of Rust and maps of Elixir are left alone."""
    assert parse("{'a': " * 200 + "1").value is None
    assert parse('{"a":' * 5_000).value is None
    assert list(find_values("Os { code: 2, kind: NotFound }")) == []
    assert list(find_values('key :name not found in: %{title: "tea"}')) == []
    assert len(list(find_values("{'a': 1} " * 9))) == 4


# ruff: noqa: ISC004
ZAP = (
    '{"level":"info","ts":1,"msg":"start"}\n{"level":"error","ts":2,"caller":"api/h.go:12","msg":"query failed",'
    '"error":"pq: relation missing","order":7}\n{"level":"error","ts":3,"msg":"giving up"}'
)


@pytest.mark.parametrize(
    ("text", "kind", "place", "cause", "details"),
    [
        pytest.param(ZAP, "error", "api/h.go:12", "query failed: pq: relation missing", ("order: 7", "giving up"),
                     id="zap"),
        pytest.param(
            json.dumps({"level": 50, "time": 1, "pid": 2, "msg": "request errored", "err": {
                "type": "TypeError", "message": "x is no function",
                "stack": "TypeError: x is no function\n    at load (/srv/a.js:7:18)"}}),
            "TypeError", "load (/srv/a.js:7)", "x is no function", (), id="pino",
        ),
        pytest.param(
            json.dumps({"time": "2026", "level": "ERROR", "msg": "no", "err": "x: y",
                        "source": {"function": "main.f", "file": "/a/main.go", "line": 9}}),
            "error", "main.f (/a/main.go:9)", "no: x: y", (), id="slog",
        ),
        pytest.param(
            json.dumps({"@t": "2026", "@mt": "Failed {Id}", "@l": "Error", "@x": "System.Exception: boom\n   at A.B()",
                        "Id": 3}),
            "error", "", "Failed {Id}: System.Exception: boom", (), id="Serilog",
        ),
        pytest.param(
            json.dumps({"level": {"name": "ERROR"}, "event": "failed", "exception":
                        "Traceback (most recent call last):\n  File \"/a.py\", line 3, in f\nKeyError: 'x'"}),
            "KeyError", "f (/a.py:3)", "'x'", (), id="structlog",
        ),
        pytest.param('time="2026" level=error msg="cannot open" err="permission denied" file=/a/b', "error", "",
                     "cannot open: permission denied", (), id="logrus"),
        pytest.param('{"severity":"ERROR","message":"quota","timestamp":"x","error":{"code":"Q1","message":"used up"}}',
                     "Q1", "", "quota: used up", (), id="cloud"),
    ],
)  # fmt: skip
def test_logs(text, kind, place, cause, details):
    """The record of an error is the cause, with its error, its place and its other fields."""
    found = facts(text)
    assert (found.type, str(found.location), found.cause, found.details) == (kind, place, cause, details)


@pytest.mark.parametrize(
    "text",
    [
        '{"level":"info","msg":"fine","ts":1}',
        "plain\ntext",
        '{"level":"error","ts":1,"caller":"nowhere"}',
        'some text\nmore text\nand more\n{"level":"error","msg":"x","ts":1}',
        '{"level":"error"}\n{"level":"error"}',
    ],
)
def test_what_is_no_log_of_an_error(text):
    """Records of other levels, without words, or among other lines are no cause."""
    assert read_log(text) is None


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        ("error=invalid_grant&error_description=Token+expired", "invalid_grant", "Token expired"),
        ("code: E12\nmessage: no seat is left\nrequest_id: r1\n", "E12", "no seat is left"),
        ("error:\n  code: E12\n  message: no seat is left\n", "E12", "no seat is left"),
        (
            '<testsuite name="s"><testcase name="test_ok"/><testcase name="test_x"><failure message="assert 1 == 2" '
            'type="AssertionError">trace</failure></testcase></testsuite>',
            "AssertionError",
            "assert 1 == 2",
        ),
        (
            '<?xml version="1.0"?><s:Envelope><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>no order'
            "</faultstring><detail><code>E17</code></detail></s:Fault></s:Body></s:Envelope>",
            "s:Client",
            "no order",
        ),
    ],
)
def test_documents_of_errors(text, kind, cause):
    """Forms, outlines and XML state errors as JSON does."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "http")


def test_headers_on_retrying():
    """What a server says of a retry in its headers is shown with its answer, and so is the request."""
    text = "> POST /v1/orders HTTP/1.1\n> Host: x.io\n>\n< HTTP/1.1 429 Too Many Requests\n< Retry-After: 30\n<\n{}"
    assert facts(text).details == ("POST /v1/orders", "Retry-After: 30")
    body = 'HTTP/1.1 503 Down\nRetry-After: {}\nDate: x\n\n{{"error": "busy"}}'
    assert facts(body.format(30)).details == ("Retry-After: 30",)
    assert key(body.format(30)) == key(body.format(7))


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit",
    ["<a>", "<a b='", "a=1&", "a: 1\n", "{'a': ", "[{a", '{"level":"error","msg":"', "level=error a=", "{a: <b "],
)
def test_hostile_payloads_cost_little(unit):
    """A megabyte of anything is looked at in a moment."""
    assert costs_little(lambda: facts(unit * (1_000_000 // len(unit))))
