"""From a raw error to its class."""

from __future__ import annotations

import json
import operator
import sys
import tracemalloc
from collections import defaultdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.quality.ours import forget
from otel_errcompact.compactor.classify import MAX_REMEMBERED_CHARACTERS, Classified, _redact_facts, classify
from otel_errcompact.errors import Facts, Location, RawError
from tests.clock import costs_little

DATA = Path(__file__).parents[2] / "../shared/data/errors"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the labelled errors lie beside the checkout only")


class ToolError(Exception):
    pass


def caught(function, *args) -> BaseException:
    try:
        function(*args)
    except Exception as error:
        return error
    raise AssertionError("did not fail")


def lookup(table, name):
    return table[name]


def fail(message):
    raise ToolError(message)


def test_class_of_an_exception():
    """Facts, a template without values, and a key."""
    found = classify(RawError(text="", exception=caught(fail, "order 81723 has no rows")))
    assert found.facts.cause == "order 81723 has no rows"
    assert found.template == "order <num> has no rows"
    assert len(found.key) == 16


def test_values_vary_and_names_do_not():
    """Two orders are one class; two keys are two."""
    first, second = (classify(RawError(text="", exception=caught(fail, f"order {n} has no rows"))) for n in (81723, 55))
    assert first.key == second.key
    first, second = (classify(RawError(text="", exception=caught(lookup, {}, name))) for name in ("tenant", "user"))
    assert first.key != second.key


def test_repeats_are_remembered():
    """A repeat is the very same object, whether it comes as exception or as text."""
    first, second = (classify(RawError(text="", exception=caught(fail, "boom"))) for _ in range(2))
    assert first is second
    first, second = (classify(RawError(text="KeyError: 'x'", exit_code=1)) for _ in range(2))
    assert first is second
    assert classify(RawError(text="KeyError: 'x'", exit_code=2)) is not first


def test_a_thousand_short_failures_are_remembered():
    """A process whose failures are spread over that many classes reads none of them again."""
    texts = [f"KeyError: {'x' * (number // 26)}{chr(97 + number % 26)}" for number in range(1_000)]
    first = [classify(RawError(text=text)) for text in texts]
    assert all(classify(RawError(text=text)) is found for text, found in zip(texts, first, strict=True))
    messages = [f"order {text} has no rows" for text in texts]
    first = [classify(RawError(text="", exception=caught(fail, message))) for message in messages]
    again = [classify(RawError(text="", exception=caught(fail, message))) for message in messages]
    assert all(map(operator.is_, first, again))


def test_longer_failures_are_remembered_too():
    """They have a smaller table of their own."""
    long = "y" * (MAX_REMEMBERED_CHARACTERS - 200)
    assert classify(RawError(text=f"KeyError: {long}")) is classify(RawError(text=f"KeyError: {long}"))
    first, second = (classify(RawError(text="", exception=caught(fail, long))) for _ in range(2))
    assert first is second


def test_what_is_not_remembered_is_classified_all_the_same():
    """Long texts, long messages and groups are looked at anew."""
    long = "x" * MAX_REMEMBERED_CHARACTERS
    assert classify(RawError(text=f"KeyError: {long}")).facts.type == "KeyError"
    assert classify(RawError(text="", exception=caught(fail, f"{long} 1"))).facts.cause.startswith("xxx")


def test_group_is_classified():
    """A group of one kind has the class of that kind."""
    one = caught(fail, "boom")
    group = ExceptionGroup("sync", [one, one])
    assert classify(RawError(text="", exception=group)).key == classify(RawError(text="", exception=one)).key


def test_secrets_leave_the_facts():
    """Cause, details and key are free of secrets, also where no name stands beside one; the type is as it was."""
    found = classify(RawError(text="LoginError: password hunter2 refused\nerror: hunter2 is wrong"))
    assert found.facts == Facts(
        type="LoginError",
        cause="password [REDACTED:password] refused",
        details=("error: [REDACTED:password] is wrong",),
        format="plain",
        key_cause="password [REDACTED:password] refused | error: [REDACTED:password] is wrong",
        location=Location(),
    )
    assert "hunter2" not in found.template


def test_secrets_leave_the_names_of_tests():
    """A parameter of a test may be a key, and its name becomes a label of metrics."""
    token = f"ghp_{'a1B2c3D4' * 4}abcd"
    found = classify(
        RawError(text=f"FAILED test_a.py::test_f[{token}] - ValueError: no\n=== 1 failed in 0.1s ===")
    ).facts
    assert [name.partition("[")[0] for name in found.names] == ["test_f"]
    assert token not in "".join(found.names)


def test_secrets_leave_the_location():
    """A credential in the path of a file is no part of the place, which is a metric label."""
    said = (
        'Traceback (most recent call last):\n  File "https://ann:hunter2x@host/load.py", line 3, in load\nKeyError: 7'
    )
    found = classify(RawError(text=said))
    assert found.facts.location == Location(
        function="load", file="https://ann:[REDACTED:password]@host/load.py", line=3
    )


def test_line_of_the_redacted_text_is_not_redacted_again():
    """A fact that stands in the text as it is has been redacted with it."""
    facts = Facts(type="KeyError", cause="7", details=("password = 'hunter2x'",))

    assert _redact_facts(facts, "password = 'hunter2x'\nKeyError: 7") is facts


def test_path_of_an_exception_is_not_read_as_a_broken_line():
    """Facts that are redacted together stay apart: a long path and the name below it are not read as one word."""
    file = f"/srv/releases/of-the-checkout-service/{'2026/' * 12}tools.py"
    namespace: dict[str, Any] = {}
    exec(compile("def fail():\n    raise KeyError('user_id')", file, "exec"), namespace)
    called: set[str] = set()
    forget()
    sys.setprofile(lambda frame, *_: called.add(frame.f_code.co_name))
    try:
        classify(RawError(text="", exception=caught(namespace["fail"])))
    finally:
        sys.setprofile(None)
    assert "view_without_wraps" in called
    assert "_find_over_breaks" not in called


def test_secrets_leave_a_source_line():
    """A line of source that is read again for the digest is redacted as the text is."""
    facts = _redact_facts(Facts(type="KeyError", cause="7", details=("password = 'hunter2x'",)), "KeyError: 7")
    assert facts.details == ("password = '[REDACTED:password]'",)


def test_key_of_several_lines_leaves_an_exception():
    """A message is redacted as a whole, before it is cut into lines."""
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *["MIIEow" + letter * 58 for letter in "abcd"]])
    error = caught(fail, f"cannot load\n{key}\n-----END PRIVATE KEY-----")
    error.add_note("api_key=f3Kq9ZtLmW2xYb8RvN4c")
    found = classify(RawError(text="", exception=error))
    assert "MIIEow" not in str(found.facts)
    assert "f3Kq9Z" not in str(found.facts)


def test_secrets_leave_the_evidence():
    """A line beyond the other facts is shown without its secret as well."""
    steps = "\n".join(f"Downloading package {letter * 7} from the mirror" for letter in "abcdefghijkl")
    said = "error: expected DB_PASSWORD=hunter2secret99 at conf/app.yml:14, got 'x', retry attempts: 4"
    raised = "Traceback (most recent call last):\n  File \"/app/load.py\", line 3, in load\nKeyError: 'user_id'"
    (evidence,) = classify(RawError(text=f"{said}\n{steps}\n{raised}")).facts.evidence
    assert evidence.line == said.replace("hunter2secret99", "[REDACTED:password]")


def test_real_secrets_do_not_split_a_class():
    """Two keys that were refused are one failure."""
    first, second = (
        classify(RawError(text=f"AuthError: Incorrect API key provided: sk-proj-{secret}")).key
        for secret in ("a8Fk2LqP9xWmN3vB7cYt5RzE", "Zq7Lw3Xn9Kd5Mh2Vb8Cj4Ry6")
    )
    assert first == second


@given(st.text(), st.text(max_size=30), st.text(max_size=30))
def test_any_text_has_a_class(text, kind, message):
    """Classifying never raises."""
    found = classify(RawError(text=text, type=kind, message=message))
    assert isinstance(found, Classified)
    assert found.facts.cause


@given(st.text() | st.binary() | st.integers() | st.none())
def test_any_exception_has_a_class(argument):
    """Whatever an exception holds, it has a class."""
    assert len(classify(RawError(text="", exception=ToolError(argument))).key) == 16


INDENTED, TAGGED = (
    lambda text: "".join(f"    {line}\n" for line in text.splitlines()),
    lambda text: f"<tool_use_error>{text}</tool_use_error>",
)

NOISE = st.sampled_from(
    [
        lambda text: text.replace("\n", "\r\n"),
        INDENTED,
        lambda text: f"Exit code 1\n{text}",
        lambda text: f"{text}\n[exit code: 1]",
        lambda text: f"Chunk ID: 5f0a\nWall time: 0.31 seconds\nOutput:\n{text}",
        TAGGED,
        lambda text: text.replace("Error", "\x1b[31mError\x1b[0m"),
        lambda text: f"\n\n{text}\n\n",
    ]
)


@given(st.lists(NOISE, max_size=4))
@example([INDENTED, TAGGED, INDENTED, TAGGED])
@example([INDENTED, TAGGED] * 8)
def test_key_survives_noise(changes):
    """Colours, indentation, line ends and what harnesses add never reach the key."""
    text = (
        'Traceback (most recent call last):\n  File "/app/db.py", line 42, in query\n    return rows[name]\n'
        "KeyError: 'tenant'"
    )
    expected = classify(RawError(text=text)).key
    for change in changes:
        text = change(text)
    assert classify(RawError(text=text)).key == expected


@pytest.mark.cost
def test_memory_is_bounded():
    """Any number of distinct failures takes a few megabytes at most."""
    tracemalloc.start()
    try:
        for number in range(1_000):
            classify(RawError(text=f"KeyError: 'name{number}'\n{'x' * 3_000}"))
            classify(RawError(text="", exception=caught(fail, f"name{number} {'x' * 3_000}")))
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 6_000_000


HEADER = "Traceback (most recent call last):\n"
MEGABYTES = 10_000_000
HOSTILE = {
    "one line": "a" * MEGABYTES,
    "brackets": "{[(" * (MEGABYTES // 3),
    "nested objects": '{"a":' * (MEGABYTES // 5),
    "nested lists": "[" * MEGABYTES,
    "python dictionaries": "{'a': {" * (MEGABYTES // 7),
    "escaped quotes": "{'a': '" + "\\'" * (MEGABYTES // 2),
    "frames": HEADER + '  File "a.py", line 1, in f\n    x\n' * (MEGABYTES // 36) + "ValueError: x",
    "headers": HEADER * (MEGABYTES // 35),
    "group": f"  + Exception Group {HEADER}"
    + "    | ValueError: x\n    +---------------- 2 ----------------\n" * (MEGABYTES // 60),
    "tags": "<html>" + "<" * MEGABYTES,
    "scripts": "<html>" + "<script>" * (MEGABYTES // 8),
    "colours": "\x1b[" * (MEGABYTES // 2),
    "blank lines": "\n" * MEGABYTES,
    "harness lines": "Output:\n" * (MEGABYTES // 8),
    "errors": "error: x\n" * (MEGABYTES // 9),
    "colons": "a: " * (MEGABYTES // 3),
    "fields": "9 validation errors for X\n" + "a\n  bad [type=x\n" * (MEGABYTES // 16),
    "words": "not be " * (MEGABYTES // 7),
}


@pytest.mark.cost
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_little(text):
    """Ten megabytes built to be slow take a fraction of a second, as text and as message."""
    for raw in (RawError(text=text), RawError(text="", exception=ToolError(text))):
        assert costs_little(partial(classify, raw))


# --- quality, on labelled errors -------------------------------------------------------------------------------------


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@needs_data
def test_grouping_of_labelled_errors():
    """No two faults fall together, and hardly one falls apart."""
    events = [(row["label"], classify(RawError(text=row["raw_error_text"])).key) for row in rows("grouping.jsonl")]
    pairs = [(a[0] == b[0], a[1] == b[1]) for a, b in combinations(events, 2)]
    together = sum(found for _, found in pairs)
    right = sum(same and found for same, found in pairs)
    assert right == together, "different faults fell together"
    assert right / sum(same for same, _ in pairs) > 0.97


@needs_data
@pytest.mark.parametrize("name", ["pairs.jsonl"])
def test_hard_pairs(name):
    """Each hard pair merges or stays apart as it should."""
    wrong = [
        row["id"]
        for row in rows(name)
        if (classify(RawError(text=row["a"])).key == classify(RawError(text=row["b"])).key) != row["same"]
    ]
    assert wrong == []


@needs_data
@pytest.mark.parametrize("number", ["01", "02", "03", "04", "09", "10", "13"])
def test_variants_of_one_error(number):
    """The variants of a kind are one class, and what must survive is in its facts."""
    meta = json.loads((DATA / "kinds/meta.json").read_text(encoding="utf-8"))
    kind = next(name for name in meta if name.startswith(number))
    keys = defaultdict(int)
    for path in sorted((DATA / "kinds").glob(f"{kind}.v*.txt")):
        found = classify(RawError(text=path.read_text(encoding="utf-8")))
        keys[found.key] += 1
        shown = "\n".join((found.facts.type, found.facts.cause, str(found.facts.location), *found.facts.details))
        assert [text for text in meta[kind]["must_survive"] if text not in shown] == []
    assert list(keys.values()) == [4]
