"""Answers of servers: JSON and HTML error bodies, heads and status lines."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.extract.payload.embedded import find_body
from otel_errcompact.extract.payload.walk import read_body
from tests.extract.reading import facts


@pytest.mark.parametrize(
    ("body", "kind", "cause", "details"),
    [
        pytest.param(
            {
                "error": {
                    "message": "Rate limit reached",
                    "type": "tokens",
                    "param": None,
                    "code": "rate_limit_exceeded",
                }
            },
            "rate_limit_exceeded",
            "Rate limit reached",
            ("type: tokens",),
            id="OpenAI",
        ),
        pytest.param(
            {
                "error": {
                    "message": "bad role",
                    "type": "invalid_request_error",
                    "param": "messages.3.role",
                    "code": None,
                }
            },
            "invalid_request_error",
            "bad role",
            ("param: messages.3.role",),
            id="OpenAI without code",
        ),
        pytest.param(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"},
            "overloaded_error",
            "Overloaded",
            (),
            id="Anthropic",
        ),
        pytest.param(
            {"error": {"code": 404, "message": "no such model", "status": "NOT_FOUND", "details": []}},
            "NOT_FOUND",
            "HTTP 404: no such model",
            (),
            id="Google",
        ),
        pytest.param(
            [{"error": {"code": 400, "message": "bad key", "status": "INVALID_ARGUMENT"}}],
            "INVALID_ARGUMENT",
            "HTTP 400: bad key",
            (),
            id="Google as a list",
        ),
        pytest.param(
            {"error": "invalid_grant", "error_description": "Token expired"},
            "invalid_grant",
            "Token expired",
            (),
            id="OAuth",
        ),
        pytest.param({"error": "no such flight"}, "error", "no such flight", (), id="generic"),
        pytest.param(
            {"ok": False, "error": "channel_not_found"}, "channel_not_found", "channel_not_found", (), id="code alone"
        ),
        pytest.param({"code": "E_QUOTA"}, "E_QUOTA", "E_QUOTA", (), id="code without message"),
        pytest.param({"detail": "Not found"}, "error", "Not found", (), id="detail"),
        pytest.param(
            {"detail": {"code": "NO_SEAT", "message": "sold out"}}, "NO_SEAT", "sold out", (), id="detail as an object"
        ),
        pytest.param(
            {
                "type": "https://x.io/probs/out-of-credit",
                "title": "No credit",
                "status": 403,
                "detail": "You have 30",
                "instance": "/a/1",
            },
            "out-of-credit",
            "HTTP 403: You have 30",
            ("title: No credit",),
            id="problem details",
        ),
        pytest.param(
            {"type": "about:blank", "title": "Gone", "status": 410},
            "HTTP 410",
            "HTTP 410: Gone",
            (),
            id="blank problem",
        ),
        pytest.param(
            {
                "errors": [
                    {"message": "no field x", "path": ["a", 0], "extensions": {"code": "BAD_QUERY"}},
                    {"message": "no field y"},
                ],
                "data": None,
            },
            "BAD_QUERY",
            "no field x",
            ("in a.0", "GraphQLError: no field y"),
            id="GraphQL",
        ),
        pytest.param(
            {"errors": [{"status": "422", "code": "too_short", "title": "Invalid", "detail": "name is too short"}]},
            "too_short",
            "HTTP 422: name is too short",
            ("title: Invalid",),
            id="JSON:API",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "Method not found"}},
            "MethodNotFound",
            "Method not found",
            (),
            id="JSON-RPC",
        ),
        pytest.param(
            {"__type": "com.amazon#ThrottlingException", "message": "Rate exceeded"},
            "ThrottlingException",
            "Rate exceeded",
            (),
            id="AWS",
        ),
        pytest.param(
            {"Error": {"Code": "NoSuchKey", "Message": "no such key"}, "ResponseMetadata": {}},
            "NoSuchKey",
            "no such key",
            (),
            id="S3",
        ),
        pytest.param(
            {"message": "Not Found", "documentation_url": "https://x", "status": "404"},
            "HTTP 404",
            "HTTP 404: Not Found",
            (),
            id="GitHub",
        ),
        pytest.param(
            {"kind": "Status", "status": "Failure", "message": "pods not found", "reason": "NotFound", "code": 404},
            "NotFound",
            "HTTP 404: pods not found",
            (),
            id="Kubernetes",
        ),
        pytest.param(
            {
                "error": {"root_cause": [{"type": "x"}], "type": "index_not_found", "reason": "no such index [a]"},
                "status": 404,
            },
            "index_not_found",
            "HTTP 404: no such index [a]",
            (),
            id="Elasticsearch",
        ),
        pytest.param(
            {"timestamp": 1, "status": 500, "error": "Internal Server Error", "path": "/x"},
            "HTTP 500",
            "HTTP 500: Internal Server Error",
            ("path: /x",),
            id="Spring",
        ),
        pytest.param(
            {"name": "ValidationError", "message": "bad", "stack": "..."},
            "ValidationError",
            "bad",
            (),
            id="serialised exception",
        ),
        pytest.param(
            {"name": "Ann", "message": "user is locked"},
            "error",
            "user is locked",
            ("name: Ann",),
            id="a name that is no code",
        ),
        pytest.param(
            {"message": "invalid", "details": [{"field": "qty", "issue": "too low"}, {"hint": "see docs"}, "text"]},
            "ValidationError",
            "invalid: qty: too low",
            ("see docs", "text"),
            id="list of details",
        ),
        pytest.param({"success": False, "code": True, "message": "no"}, "error", "no", (), id="flag named code"),
        pytest.param(
            {"error": {"errors": {"a": 1}, "message": "bad"}}, "error", "bad", ("a: 1",), id="errors that are no list"
        ),
    ],
)
def test_json_bodies(body, kind, cause, details):
    """The API's own code is the type, the status stays in the cause, and request ids play no part."""
    found = facts(json.dumps(body))
    assert (found.type, found.cause, found.details) == (kind, cause, details)
    assert found.format in {"http", "llm", "rpc"}
    assert facts(json.dumps(body, indent=2)) == found
    if found.format != "rpc":
        assert facts(repr(body)) == found


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            {
                "detail": [
                    {"loc": ["body", "items", 0, "qty"], "msg": "too low", "type": "ge"},
                    {"loc": ["query", "q"], "msg": "missing", "type": "missing"},
                ]
            },
            id="FastAPI",
        ),
        pytest.param({"errors": {"body.items.0.qty": ["too low"], "query.q": ["missing"]}}, id="Rails"),
    ],
)
def test_validation_lists(body):
    """A list of fields is shown field by field."""
    found = facts(json.dumps(body))
    assert found.type == "ValidationError"
    assert found.cause == "2 validation errors: body.items.0.qty: too low; query.q: missing"


def test_key_of_validation_lists():
    """Fields and kinds count for the key, list indexes and values do not."""
    body = '{"detail":[{"loc":["body","items",%d,"qty"],"msg":"too low: %d","type":"ge"}]}'
    assert (
        facts(body % (0, 3)).key_cause
        == facts(body % (7, 1)).key_cause
        == "ValidationError: body.items.<num>.qty [min]"
    )


@pytest.mark.parametrize(
    "text", ['{"rows": [1, 2]}', "[]", "{}", "[1, 2]", '{"errors": {}}', '{"error": null}', "{broken", "[{}]"]
)
def test_json_that_tells_of_no_error(text):
    """JSON without any field that errors are told in is left to the last resort."""
    assert facts(text).format == "prose"


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        ('HTTP 500: {"error": {"message": "boom", "type": "server_error"}}', "server_error", "HTTP 500: boom"),
        (
            "Error code: 429 - {'error': {'message': \"It's full\", 'code': 'quota'}}",
            "quota",
            "Error code: 429: It's full",
        ),
        (
            "POST /v1 returned 400 {'message': 'a \\'b\\' \\u00e9\\n\\x41'}",
            "HTTP 400",
            "POST /v1 returned 400: a 'b' \u00e9",
        ),
        ('Error: {"message": "no seats"}', "error", "Error: no seats"),
        ('call failed: {"ok": true}', "error", 'call failed: {"ok": true}'),
        (
            "Error code: 429 - {'error': {'message': 'Rate limit reached, ple",
            "HTTP 429",
            "Error code: 429: Rate limit reached, ple",
        ),
        ('{"error": {"code": "quota", "message": "Rate limit reached, ple', "quota", "Rate limit reached, ple"),
        ('HTTP 500: {"a": {"b": ', "HTTP 500", 'HTTP 500: {"a": {"b":'),
    ],
)
def test_bodies_inside_text(text, kind, cause):
    """A body is found behind a first line's beginning, as JSON, as Python writes it, and cut off."""
    found = facts(text)
    assert (found.type, found.cause) == (kind, cause)


def test_body_of_an_exception_keeps_the_exceptions_type():
    """Where an exception tells of the answer, its type says more than the API's code."""
    text = "openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow down', 'code': 'quota'}, 'id': 'r1'}"
    found = facts(text)
    assert (found.type, found.cause) == ("openai.RateLimitError", "Error code: 429: quota: slow down")
    assert facts(text.partition(": ")[2], type="openai.RateLimitError", message=text.partition(": ")[2]) == found


def test_field_named_by_a_string():
    """The place of a field may be a single name, or missing."""
    body = '{"detail": [{"loc": "qty", "msg": "too low", "type": "ge"}, {"loc": null, "msg": "bad", "type": "x"}]}'
    assert facts(body).cause == "2 validation errors: qty: too low; bad [x]"


def test_reported_type_of_a_body_without_code():
    """The source's type counts where the body has neither code nor status."""
    assert facts('{"message": "no seats"}', type="tool_error").type == "tool_error"


def test_body_right_behind_the_head():
    """A body is found also without headers."""
    assert facts('HTTP/1.1 409 Conflict\n{"message": "taken"}').cause == "HTTP 409: taken"


def test_body_nested_without_end():
    """What is nested deeper than anybody nests is no body."""
    assert find_body('{"a":' * 20_000) is None
    assert read_body(json.loads('{"error":' * 9 + '{"message": "x"}' + "}" * 9)) is None
    assert read_body({"isError": True, "content": [{"type": "text", "text": "no"}]}) is not None


def test_body_behind_other_lines():
    """JSON that some program printed on the way is not the error."""
    assert facts('payload:\n{"message": "hello"}\nerror: no route').cause == "no route"


def test_traceback_in_a_body():
    """A traceback that a server answers with is read as such."""
    text = json.dumps(
        {"error": "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\nKeyError: 'x'\n"}
    )
    found = facts(text)
    assert (found.type, found.location.function, found.format) == ("KeyError", "f", "python")
    behind_a_status = json.dumps({**json.loads(text), "status": 500, "path": "/orders"})
    assert facts(behind_a_status) == found
    broken = json.dumps({"error": "Traceback (most recent call last):\n"})
    assert facts(broken).type == "error"


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        (
            "HTTP/1.1 503 Service Unavailable\nServer: x\n\nno healthy upstream",
            "HTTP 503",
            "HTTP 503 Service Unavailable: no healthy upstream",
        ),
        ("HTTP/2 404\nServer: x\n\n", "HTTP 404", "HTTP 404"),
        (
            'HTTP/1.1 400 Bad Request\nx-request-id: r1\n\n{"error": {"message": "bad", "code": "E1"}}',
            "E1",
            "HTTP 400: bad",
        ),
        (
            "404 Client Error: Not Found for url: https://x.io/1",
            "HTTP 404",
            "404 Client Error: Not Found for url: https://x.io/1",
        ),
        ("Request failed with status code 503", "HTTP 503", "Request failed with status code 503"),
        ("HTTP Error 404: Not Found", "HTTP 404", "HTTP Error 404: Not Found"),
        ("server returned 502", "HTTP 502", "server returned 502"),
    ],
)
def test_heads_and_status_lines(text, kind, cause):
    """Without a telling body the status is the type."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "http")


@pytest.mark.parametrize("text", ["404 tests passed, 2 failed", "error 500 lines are too long", "exit at 503"])
def test_numbers_that_are_no_status(text):
    """A count is no status."""
    assert facts(text).format != "http"


PAGE = """\
<!DOCTYPE html>
<html><head><title>shop.example | 502: Bad gateway</title>
<style>.failed { color: red }</style>
<script>if (error) { alert("failed to load the error page") }</script></head>
<body><h1>Bad gateway <span>Error code 502</span></h1>
<ul><li>You</li><li>Browser</li></ul>
<p>Please visit our pages for more information.</p>
<p>The <b>web server</b> reported: upstream connect error &amp; reset, connection termination.</p>
<p>Ray ID: 7f3e2c1a9b4d4e and more words</p>
</body></html>
"""


def test_error_page():
    """Title and most telling sentence; scripts, styles and labels are not shown."""
    found = facts(PAGE)
    assert found.type == "HTTP 502"
    assert found.cause == (
        "shop.example | Bad gateway: The web server reported: upstream connect error & reset, connection termination."
    )
    assert found.details == ()


def test_error_page_behind_a_head():
    """The status of the head counts where the title does not say it."""
    found = facts("HTTP/1.1 504 Gateway Timeout\nServer: nginx\n\n<html><title>Oops</title><p>nothing here</p></html>")
    assert (found.type, found.cause) == ("HTTP 504", "Oops")


def test_page_inside_other_output():
    """A page that a test printed is not the error."""
    text = "1) test page (PageTest)\n   expected: <html><title>Shop</title></html>\nerror: 1 test failed"
    assert facts(text).format != "http"


@pytest.mark.parametrize(
    "page", ["<html></html>", "<html><script>if (a<b) x()</script>", "<html><h1></h1><", "<html><>"]
)
def test_empty_page(page):
    """A page that says nothing is still an error page."""
    assert facts(page).type == "error page"
    assert facts(page).cause == "empty page"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "details"),
    [
        pytest.param(
            '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not '
            "exist.</Message><Key>a/b.csv</Key><RequestId>4442587F</RequestId></Error>",
            "NoSuchKey",
            "The specified key does not exist.",
            ("Key: a/b.csv",),
            id="S3",
        ),
        pytest.param(
            "HTTP/1.1 403 Forbidden\nServer: x\n\n<ErrorResponse><Error><Type>Sender</Type><Code>InvalidToken</Code>"
            "<Message>The token is invalid. See https://x.io</Message></Error></ErrorResponse>",
            "InvalidToken",
            "HTTP 403: The token is invalid.",
            (),
            id="query API",
        ),
        pytest.param(
            "<soap:Envelope><soap:Body><soap:Fault><faultcode>soap:Client</faultcode><faultstring>no order"
            "</faultstring></soap:Fault></soap:Body></soap:Envelope>",
            "soap:Client",
            "no order",
            (),
            id="SOAP",
        ),
        pytest.param(
            "HTTP/1.1 500 X\n\n<Error><Message>boom</Message></Error>", "HTTP 500", "HTTP 500: boom", (), id="status"
        ),
        pytest.param("<Error><Message>boom</Message></Error>", "error", "boom", (), id="message alone"),
        pytest.param("<Error><Code>Busy</Code></Error>", "Busy", "Busy", (), id="code alone"),
    ],
)
def test_xml(text, kind, cause, details):
    """Code, message and what they concern are found in XML as well."""
    found = facts(text)
    assert (found.type, found.cause, found.details, found.format) == (kind, cause, details, "http")


def test_xml_without_an_error():
    """XML that states no error is left to the last resort."""
    assert facts("<?xml version='1.0'?><rows><row/></rows>").format == "prose"


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        (
            "curl: (6) Could not resolve host: x.invalid",
            "HostNotResolved",
            "curl: (6) Could not resolve host: x.invalid",
        ),
        (
            "  0  0\ncurl: (22) The requested URL returned error: 503",
            "HTTP 503",
            "curl: (22) The requested URL returned error: 503",
        ),
        ("curl: (43) A function was called wrongly", "curl 43", "curl: (43) A function was called wrongly"),
        (
            "wget: unable to resolve host address 'x.invalid'",
            "wget",
            "wget: unable to resolve host address 'x.invalid'",
        ),
        (
            "--2026-11-22 01:00:00--  http://x.io/a\nConnecting to x.io:80... failed: Connection refused.",
            "ECONNREFUSED",
            "wget: Connection refused",
        ),
        (
            "--2026-11-22 01:00:00--  http://x.io/a\n2026-11-22 01:00:01 ERROR 404: Not Found.",
            "HTTP 404",
            "HTTP 404: Not Found",
        ),
        (
            "\nAn error occurred (AccessDenied) when calling the GetObject operation: Access Denied",
            "AccessDenied",
            "GetObject: Access Denied",
        ),
        (
            "Client error '404 Not Found' for url 'http://x.io/a'\nFor more information check: https://y",
            "HTTP 404",
            "Client error '404 Not Found' for url 'http://x.io/a'",
        ),
        (
            "gh: Bad credentials (HTTP 401)\nTry authenticating with:  gh auth login",
            "HTTP 401",
            "gh: Bad credentials (HTTP 401)",
        ),
    ],
)
def test_command_line_clients(text, kind, cause):
    """What curl, wget and the AWS client say of an answer, or of getting none."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "http")


@pytest.mark.parametrize("text", ["see curl: (docs)", "how wget: works", "An error occurred (maybe)", "-- ERROR --"])
def test_words_of_clients_in_prose(text):
    """A client's name in a sentence is no report of it."""
    assert facts(text).format != "http"


@pytest.mark.parametrize(
    ("body", "kind", "cause", "details"),
    [
        pytest.param(
            {"errors": ["Name can't be blank", "Total is low"]},
            "error",
            "Name can't be blank",
            ("Total is low",),
            id="sentences",
        ),
        pytest.param(
            {"name": ["This field is required."]},
            "ValidationError",
            "name: This field is required.",
            (),
            id="fields at the top",
        ),
        pytest.param(
            {
                "error": {
                    "code": 400,
                    "message": "bad key",
                    "status": "INVALID_ARGUMENT",
                    "details": [
                        {"@type": "x.ErrorInfo", "reason": "API_KEY_INVALID"},
                        {"@type": "x.BadRequest", "fieldViolations": [{"field": "q", "description": "too long"}]},
                        {"@type": "x.RetryInfo", "retryDelay": "36s"},
                        7,
                    ],
                }
            },
            "INVALID_ARGUMENT",
            "HTTP 400: bad key",
            ("API_KEY_INVALID", "q: too long", "retryDelay: 36s"),
            id="Google",
        ),
        pytest.param(
            {
                "kind": "Status",
                "message": "x is invalid",
                "reason": "Invalid",
                "code": 422,
                "details": {
                    "causes": [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.x"}]
                },
            },
            "Invalid",
            "HTTP 422: x is invalid: spec.x: Required value",
            (),
            id="Kubernetes",
        ),
        pytest.param(
            {"errors": [{"title": "Invalid", "code": "short", "source": {"pointer": "/data/name"}}]},
            "ValidationError",
            "/data/name: Invalid [short]",
            (),
            id="JSON:API",
        ),
        pytest.param(
            {"message": "No such plan! Please contact us. Plans are listed at https://x.io. Retry in 3s."},
            "error",
            "No such plan! Retry in 3s.",
            (),
            id="advice",
        ),
    ],
)
def test_more_bodies(body, kind, cause, details):
    """Lists of sentences, fields at the top, nested details and pointers are read; advice and links are not."""
    found = facts(json.dumps(body))
    assert (found.type, found.cause, found.details) == (kind, cause, details)


@pytest.mark.parametrize("body", [{"errors": ["a", "b"]}, {"tags": ["new", "red"]}, {"errors": [1]}])
def test_lists_that_tell_of_no_error(body):
    """Words without a sentence are data."""
    assert facts(json.dumps(body)).format == "prose"


def test_page_of_one_dull_sentence():
    """A page without any telling sentence shows its first one; a status stands in the type alone."""
    found = facts("<html><title>HTTP Status 404 \u2013 Gone</title><p>You took a wrong turn</p><p>One more to go</p>")
    assert (found.type, found.cause) == ("HTTP 404", "Gone: You took a wrong turn")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # A brace inside a string begins a document of its own, which ends where the quotes of its notation say.
    | st.text(st.characters(exclude_characters="{["), max_size=9)
    | st.sampled_from(["error", "404"]),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("error", "errors", "message", "detail", "details", "code", "status", "type", "loc", "msg"),
                    *("isError", "content"),
                ]
            ),
            values,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_can_be_read(value):
    """Whatever fields a body has, reading it leads to a body or to none."""
    body = read_body(value)
    assert body is None or body.message or body.code


@given(JSON)
def test_json_and_repr_read_the_same(value):
    """A body means the same as JSON and as Python writes it."""
    as_json, as_repr = find_body(json.dumps(value)), find_body(repr(value))
    assert (as_json and as_json.body) == (as_repr and as_repr.body)
