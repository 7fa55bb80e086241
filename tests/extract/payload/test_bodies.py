"""Bodies of many APIs, flattened by one walk; samples of our own after the documentation of each."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.payload.walk import read_body
from tests.extract.reading import facts, key

# ruff: noqa: E501, ISC004
CASES = {
    "Stripe": (
        {"error": {"charge": "ch_3Nx", "code": "card_declined", "decline_code": "insufficient_funds", "doc_url":
         "https://stripe.com/docs", "message": "Your card has insufficient funds.", "param": "", "type": "card_error"}},
        "card_declined", "Your card has insufficient funds.",
        ("charge: ch_3Nx, decline_code: insufficient_funds, type: card_error",),
    ),
    "Google violations": (
        {"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT",
         "details": [{"@type": "google.rpc.BadRequest", "fieldViolations": [
             {"field": "contents[0].parts", "description": "must not be empty"},
             {"field": "temperature", "description": "must be in [0, 2]"}]},
             {"@type": "x.RequestInfo", "requestId": "abc"}]}},
        "ValidationError",
        "HTTP 400: Request contains an invalid argument: contents[0].parts: must not be empty; temperature: must be in "
        "[0, 2]",
        (),
    ),
    "Google quota": (
        {"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "x.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit_value": "60"}},
            {"@type": "x.RetryInfo", "retryDelay": "36s"},
            {"@type": "x.QuotaFailure", "violations": [{"subject": "project:1", "description": "Daily limit"}]}]}},
        "RESOURCE_EXHAUSTED", "HTTP 429: Quota exceeded",
        ("RATE_LIMIT_EXCEEDED (metadata.quota_limit_value: 60)", "retryDelay: 36s", "project:1: Daily limit"),
    ),
    "Azure content filter": (
        {"error": {"message": "The response was filtered. Please modify your prompt.", "code": "content_filter",
         "param": "prompt", "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation",
         "content_filter_result": {"hate": {"filtered": False, "severity": "safe"},
                                   "violence": {"filtered": True, "severity": "high"}}}}},
        "content_filter", "HTTP 400: The response was filtered.",
        ("ResponsibleAIPolicyViolation (violence.filtered: true, violence.severity: high)", "param: prompt"),
    ),
    "Kubernetes causes": (
        {"kind": "Status", "status": "Failure", "message": 'Deployment "web" is invalid', "reason": "Invalid",
         "details": {"name": "web", "kind": "Deployment", "causes": [
             {"reason": "FieldValueInvalid", "message": "Invalid value: -1", "field": "spec.replicas"},
             {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.containers"}]}, "code": 422},
        "Invalid",
        'HTTP 422: Deployment "web" is invalid: spec.replicas: Invalid value: -1 [FieldValueInvalid]; spec.containers: '
        "Required value",
        (),
    ),
    "problem with parameters": (
        {"type": "https://x.io/validation-error", "title": "Your request didn't validate.", "status": 422,
         "instance": "/logs/1", "invalid-params": [{"name": "age", "reason": "must be a positive integer"},
                                                   {"name": "color", "reason": "must be 'green' or 'red'"}]},
        "ValidationError",
        "HTTP 422: Your request didn't validate: age: must be a positive integer; color: must be 'green' or 'red'", (),
    ),
    "problem with members of its own": (
        {"type": "https://x.io/out-of-credit", "title": "Not enough credit.", "detail": "Your balance is 30.",
         "instance": "/msgs/abc", "balance": 30, "accounts": ["/account/1"]},
        "out-of-credit", "Your balance is 30.", ("title: Not enough credit., balance: 30, accounts: /account/1",),
    ),
    "JSON:API": (
        {"errors": [{"id": "x1", "status": "422", "source": {"pointer": "/data/name"}, "detail": "is too short"},
                    {"status": "422", "source": {"parameter": "include"}, "detail": "is no relationship"}]},
        "ValidationError", "2 validation errors: /data/name: is too short; include: is no relationship", (),
    ),
    "REST framework, nested": (
        {"items": [{}, {"qty": ["A valid integer is required."]}], "address": {"zip": ["This may not be blank."]}},
        "ValidationError",
        "2 validation errors: items.1.qty: A valid integer is required.; address.zip: This may not be blank.", (),
    ),
    "REST framework, in full": (
        {"qty": [{"message": "A valid integer is required.", "code": "invalid"}]},
        "ValidationError", "qty: A valid integer is required. [invalid]", (),
    ),
    "Rails": (
        {"errors": {"name": ["can't be blank", "is too short"], "base": ["limit reached"]}},
        "ValidationError", "3 validation errors: name: can't be blank; name: is too short; base: limit reached", (),
    ),
    "Laravel": (
        {"message": "The qty field must be an integer. (and 1 more error)",
         "errors": {"qty": ["The qty field must be an integer."], "email": ["The email has already been taken."]}},
        "ValidationError",
        "The qty field must be an integer. (and 1 more error): email: The email has already been taken.", (),
    ),
    "Spring": (
        {"timestamp": "2026-01-01T00:00:00Z", "status": 400, "error": "Bad Request", "path": "/orders",
         "message": "Validation failed", "errors": [
             {"codes": ["Min.order.qty"], "defaultMessage": "must be at least 1", "field": "qty", "rejectedValue": 0,
              "code": "Min"},
             {"defaultMessage": "must not be blank", "field": "sku", "rejectedValue": "", "code": "NotBlank"}]},
        "ValidationError",
        "HTTP 400: Validation failed: qty: must be at least 1 (got 0); sku: must not be blank", ("path: /orders",),
    ),
    "zod": (
        {"success": False, "error": {"name": "ZodError", "issues": [
            {"code": "invalid_type", "expected": "string", "received": "number", "path": ["user", "name"],
             "message": "Expected string, received number"},
            {"code": "too_small", "minimum": 1, "path": ["qty"], "message": "Number must be at least 1"}]}},
        "ValidationError",
        "2 validation errors: user.name: Expected string, received number; qty: Number must be at least 1", (),
    ),
    "zod, flattened": (
        {"formErrors": [], "fieldErrors": {"name": ["Required"], "qty": ["Expected number, received string"]}},
        "ValidationError", "2 validation errors: name: Required; qty: Expected number, received string", (),
    ),
    "zod, formatted": (
        {"_errors": [], "name": {"_errors": ["Required"]}, "items": {"0": {"_errors": [], "qty": {"_errors": ["Bad"]}}}},
        "ValidationError", "2 validation errors: name: Required; items.0.qty: Bad", (),
    ),
    "ajv": (
        [{"instancePath": "/limit", "keyword": "type", "params": {"type": "integer"}, "message": "must be integer"},
         {"instancePath": "", "keyword": "required", "params": {"missingProperty": "query"},
          "message": "must have required property 'query'"}],
        "ValidationError", "2 validation errors: /limit: must be integer; must have required property 'query'", (),
    ),
    "GitHub": (
        {"message": "Validation Failed", "documentation_url": "https://docs.github.com", "errors": [
            {"resource": "Issue", "field": "title", "code": "missing_field"},
            {"resource": "Label", "field": "name", "code": "already_exists", "value": "bug"}]},
        "ValidationError", "Validation Failed: Issue.title: missing_field; Label.name: already_exists, got bug", (),
    ),
    "AWS cancellation": (
        {"__type": "com.amazonaws#TransactionCanceledException", "Message": "Transaction cancelled",
         "CancellationReasons": [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "The request failed"}]},
        "TransactionCanceledException", "Transaction cancelled", ("ConditionalCheckFailed: The request failed",),
    ),
    "axios": (
        {"message": "Request failed with status code 409", "name": "AxiosError", "config": {"url": "/orders"},
         "response": {"status": 409, "data": {"code": "ORDER_LOCKED", "message": "Order 7 is locked",
                                              "lockedBy": "ann", "retryable": True, "retryAfterMs": 1500}}},
        "ORDER_LOCKED", "HTTP 409: Order 7 is locked",
        ("retryable: true, retryAfterMs: 1500", "in AxiosError: Request failed with status code 409", "lockedBy: ann"),
    ),
    "Elasticsearch": (
        {"error": {"root_cause": [{"type": "mapper_parsing_exception", "reason": "failed to parse field [price]"}],
         "type": "mapper_parsing_exception", "reason": "failed to parse field [price]",
         "caused_by": {"type": "number_format_exception", "reason": 'For input string: "cheap"'}}, "status": 400},
        "number_format_exception", 'HTTP 400: For input string: "cheap"',
        ("in mapper_parsing_exception: failed to parse field [price]",),
    ),
    "JSON inside MCP": (
        {"content": [{"type": "text", "text": '{"error": {"code": "RATE", "message": "Too fast", "retry_after_ms": 25,'
                      ' "request_id": "r1"}}'}], "isError": True},
        "RATE", "Too fast", ("retry_after_ms: 25",),
    ),
    "a gateway's answer as text": (
        {"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw":
         '{"error": {"message": "Rate limit exceeded", "code": 429}}', "provider_name": "Chutes"}}},
        "HTTP 429", "HTTP 429: Rate limit exceeded", ("Provider returned error", "provider_name: Chutes"),
    ),
    "Slack": (
        {"ok": False, "error": "missing_scope", "needed": "channels:write", "provided": "chat:write"},
        "missing_scope", "missing_scope", ("needed: channels:write, provided: chat:write",),
    ),
    "Twilio": (
        {"code": 21211, "message": "The number is not valid", "more_info": "https://x.io/21211", "status": 400},
        "21211", "HTTP 400: The number is not valid", (),
    ),
    "PayPal": (
        {"name": "UNPROCESSABLE_ENTITY", "message": "The action could not be performed", "debug_id": "90957fca61718",
         "details": [{"field": "/units/0/value", "value": "-5", "issue": "CANNOT_BE_NEGATIVE",
                      "description": "Must be greater than zero."}],
         "links": [{"href": "https://x.io", "rel": "information_link"}]},
        "ValidationError",
        "The action could not be performed: /units/0/value: Must be greater than zero. [CANNOT_BE_NEGATIVE] (got -5)",
        (),
    ),
    "what was done": (
        {"error": "gateway_timeout", "message": "Upstream timed out; nothing was charged.", "charged": False,
         "idempotency_key": "ik_9", "retry_after": 30},
        "gateway_timeout", "Upstream timed out; nothing was charged.",
        ("charged: false, idempotency_key: ik_9, retry_after: 30",),
    ),
    "OData": (
        {"error": {"code": "0x80040217", "message": "account 1 does not exist", "innererror": {
            "message": "account 1 does not exist", "type": "System.FaultException", "stacktrace": "at X\n at Y"}}},
        "0x80040217", "account 1 does not exist", ("System.FaultException",),
    ),
    "deployment": (
        {"error": {"code": "InvalidTemplateDeployment", "message": "The template is not valid.", "details": [
            {"code": "QuotaExceeded", "message": "Current limit: 10, required: 12"},
            {"code": "SkuNotAvailable", "target": "vm1", "message": "Standard_D2 is not available in westeurope"}]}},
        "InvalidTemplateDeployment", "The template is not valid.",
        ("QuotaExceeded: Current limit: 10, required: 12",
         "SkuNotAvailable: Standard_D2 is not available in westeurope (target: vm1)"),
    ),
    "part of a batch": (
        {"results": [{"id": 1, "status": "ok"},
                     {"id": 2, "status": "error", "error": {"code": "NOT_FOUND", "message": "No item"}},
                     {"id": 3, "status": "error", "error": {"code": "LOCKED", "message": "Item is locked"}}],
         "succeeded": 1, "failed": 2},
        "NOT_FOUND", "No item", ("LOCKED: Item is locked (id: 3)", "id: 2, succeeded: 1, failed: 2"),
    ),
    "Lambda": (
        {"errorType": "Runtime.ImportModuleError", "errorMessage": "No module named 'requests'", "requestId": "x"},
        "Runtime.ImportModuleError", "No module named 'requests'", (),
    ),
    "Discord form": (
        {"code": 50035, "message": "Invalid Form Body", "errors": {"embeds": {"0": {"fields": {"1": {"value": {
            "_errors": [{"code": "BASE_TYPE_REQUIRED", "message": "This field is required"}]}}}}}}},
        "50035", "Invalid Form Body: embeds.0.fields.1.value: This field is required", (),
    ),
    "Discord limit": (
        {"message": "You are being rate limited.", "retry_after": 64.57, "global": False},
        "error", "You are being rate limited.", ("retry_after: 64.57",),
    ),
    "several groups of details": (
        {"message": "Nothing saved", "code": "E9", "errors": ["row 1 has no price", "skipped"],
         "warnings": [{"code": "W1", "message": "row 2 is old"}]},
        "E9", "Nothing saved", ("row 1 has no price", "skipped", "W1: row 2 is old"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_facts(name):
    """Code, message, violations and retry data are kept; ids of requests, times and links are not."""
    body, kind, cause, details = CASES[name]
    found = facts(json.dumps(body))
    assert (found.type, found.cause, found.details) == (kind, cause, details)
    indented = facts(json.dumps(body, indent=1))
    assert (indented.type, indented.cause, indented.details) == (kind, cause, details)
    assert key(repr(body)) == key(json.dumps(body))


def changed(name, before, after):
    text = json.dumps(CASES[name][0])
    assert before in text
    return key(text.replace(before, after))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("Stripe", "insufficient_funds", "lost_card"),
        ("Google violations", "temperature", "topK"),
        ("Google quota", "RATE_LIMIT_EXCEEDED", "DAILY_LIMIT_EXCEEDED"),
        ("Azure content filter", "ResponsibleAIPolicyViolation", "JailbreakDetected"),
        ("Kubernetes causes", "spec.containers", "spec.volumes"),
        ("Slack", "channels:write", "users:read"),
        ("deployment", "SkuNotAvailable", "ZoneNotAvailable"),
        ("axios", "ORDER_LOCKED", "ORDER_CLOSED"),
        ("Spring", "NotBlank", "Pattern"),
        ("Discord form", "embeds", "components"),
    ],
)
def test_siblings_are_apart(name, before, after):
    """Another code, field or rule is another class."""
    assert changed(name, before, after) != key(json.dumps(CASES[name][0]))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("Stripe", "ch_3Nx", "ch_77z"),
        ("Google violations", "contents[0]", "contents[3]"),
        ("Google violations", "abc", "def"),
        ("Spring", '"rejectedValue": 0', '"rejectedValue": -7'),
        ("what was done", "ik_9", "ik_10"),
        ("Discord limit", "64.57", "3.2"),
        ("axios", "ann", "bob"),
        ("PayPal", "90957fca61718", "11157fca61799"),
    ],
)
def test_values_and_ids_are_not_in_the_key(name, before, after):
    """Another value, row, delay or id is the same class."""
    assert changed(name, before, after) == key(json.dumps(CASES[name][0]))


@pytest.mark.parametrize(
    "value",
    [None, 7, [], {}, {"rows": [1, 2]}, {"type": "user", "id": 3}, {"errors": [{}]}, {"items": [{"name": "a"}]}, [[]]],
)
def test_data_that_states_no_error(value):
    """Other data is no body of an error."""
    assert read_body(value) is None


def test_what_is_bounded():
    """Depth, fields and entries of a body are bounded."""
    deep: object = {"message": "x"}
    for _ in range(40):
        deep = {"error": deep}
    assert read_body(deep) is None
    wide = {"message": "no", "errors": [{"field": f"f{number}", "message": "is bad"} for number in range(5_000)]}
    assert len(read_body(wide).details) <= 48
    nested: object = 1
    for _ in range(40):
        nested = {"a": nested}
    assert read_body({"message": "no", "more": nested}).details == ()


def test_details_of_grpc_without_words():
    """A service lists what it adds to a message; when to retry is told though no entry has words."""
    message = (
        "<HttpError 429 returned \"Quota exceeded\". Details: \"[{'@type': 'type.googleapis.com/google.rpc.ErrorInfo', "
        "'reason': 'RATE_LIMIT_EXCEEDED', 'metadata': {'quota_limit_value': '60'}}, "
        "{'@type': 'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '31s'}]\">"
    )
    reading = read_message(message)
    assert reading.cause == '<HttpError 429 returned "Quota exceeded". Details: RATE_LIMIT_EXCEEDED'
    assert "retryDelay: 31s" in reading.details
    assert any("quota_limit_value: 60" in line for line in reading.details)
