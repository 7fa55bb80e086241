"""How a message becomes its template."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.dedup.masking import mask, values
from otel_errcompact.dedup.names import NAME_FORMS
from otel_errcompact.dedup.pattern import START, find_forms
from otel_errcompact.dedup.rules import RULES
from tests.clock import costs_little
from tests.dedup.one_pattern import ALL_RULES

PAIRS = Path(__file__).parents[2].parent / "shared/data/errors/pairs.jsonl"
BEYOND_MASKING = ("15", "17", "23")
"""Cases that the extractors decide: groups, call paths, colours."""

EXAMPLES = [(rule.name, text, template) for rule in (*RULES, *NAME_FORMS) for text, template in rule.masks]
COUNTER_EXAMPLES = [(rule.name, text) for rule in (*RULES, *NAME_FORMS) for text in rule.keeps]
WORDS = st.sampled_from(
    [text for _, text, _ in EXAMPLES] + [text for _, text in COUNTER_EXAMPLES] + ["job", "7", "'x'"]
)

CUT = st.builds(lambda text, start, length: text[start : start + length], WORDS, st.integers(0, 12), st.integers(1, 40))
GLUE = st.sampled_from(["", " ", "\n", ":", "=", "-", "/", "'", '"', "(", ", ", "<", "x", "7"])


def find_by_groups(text: str) -> list[tuple[tuple[int, int], str | None]]:
    """Return where the masks find a rule, and which."""
    return [(match.span(), match.lastgroup) for match in find_forms(START + text)]


def find_by_all(text: str) -> list[tuple[tuple[int, int], str | None]]:
    """Return the same, with all rules tried at each character."""
    return [(match.span(), match.lastgroup) for match in ALL_RULES.finditer(START + text, len(START))]


@pytest.mark.parametrize(
    ("text", "template"), [pytest.param(text, template, id=f"{rule}-{text}") for rule, text, template in EXAMPLES]
)
def test_value_is_masked(text: str, template: str):
    """Each rule turns its examples into their templates."""
    assert template == mask(text)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        pytest.param("we paid 299", "we paid <num>", id="a word that ends like a label"),
        pytest.param("userId 17, user_id 18, pid 19", "userId <id>, user_id <id>, pid <id>", id="labels"),
        pytest.param(
            "'/srv/sync/3f0d9a52-6b1e-4d7a-8c35-0e9b7d41f6a8.lock'", "'/srv/sync/<id>.lock'", id="uuid as a file"
        ),
    ],
)
def test_what_belongs_together_is_masked_together(text: str, template: str):
    """A label is a whole word, and an id in a path is one id."""
    assert template == mask(text)


@pytest.mark.parametrize("text", [pytest.param(text, id=f"{rule}-{text}") for rule, text in COUNTER_EXAMPLES])
def test_name_is_kept(text: str):
    """Each rule leaves its counter-examples exactly as they are."""
    assert text == mask(text)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_is_needed(rule):
    """At least one example of each rule is decided by that rule and not by another one before it."""
    texts = [text for text, _ in rule.masks] + list(rule.keeps)

    assert any(match.lastgroup == rule.name for text in texts for match in find_forms(START + text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("KeyError: 'a'", "KeyError: 'b'", id="key"),
        pytest.param("name 'np' is not defined", "name 'pd' is not defined", id="variable"),
        pytest.param("Unknown tool 'serach'", "Unknown tool 'wriet'", id="tool"),
        pytest.param("HTTP 401: denied", "HTTP 500: denied", id="HTTP status"),
        pytest.param("404 Client Error: x", "429 Client Error: x", id="status before its reason"),
        pytest.param("[Errno 13] x: '/tmp/a/y'", "[Errno 28] x: '/tmp/a/y'", id="errno"),
        pytest.param("exit code 1: make", "exit code 127: make", id="exit code"),
        pytest.param("ERROR:  23505: x", "ERROR:  23503: x", id="SQLSTATE"),
        pytest.param("error[E0382]: x", "error[E0502]: x", id="compiler code"),
        pytest.param("model gpt-4.1 is gone", "model gpt-4.2 is gone", id="model version"),
        pytest.param("'utf-8' codec", "'utf-16' codec", id="encoding"),
        pytest.param("'/tmp/a1/x.json' is missing", "'/tmp/a1/y.json' is missing", id="final file name"),
        pytest.param("localhost:5432 refused", "localhost:6379 refused", id="port of a service"),
        pytest.param("maximum length is 4096", "maximum length is 8192", id="limit"),
        pytest.param("read timed out after 5s", "connect timed out after 5s", id="kind of time-out"),
        pytest.param("foo() argument 1 must be str", "foo() argument 2 must be str", id="argument"),
    ],
)
def test_meaning_keeps_templates_apart(one: str, other: str):
    """What decides the fix tells two templates apart."""
    assert mask(one) != mask(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("try again in 1.908s", "try again in 820ms", id="unit of a duration"),
        pytest.param("C:\\Users\\ann\\app.py:12: x", "/home/bob/app.py:40: x", id="home directory on two systems"),
        pytest.param("2026-11-20T11:57:57.123Z x", "2026-11-21 00:18:17,004 x", id="form of a time stamp"),
        pytest.param("wrote 900 KB", "wrote 12.5MB", id="unit of a size"),
        pytest.param("call_8xkTzGq2bVnC", "call_0a1b2c3d", id="call id"),
        pytest.param("run_3f27bd98 failed", "run_08422011 failed", id="hexadecimal id without letters"),
    ],
)
def test_noise_does_not(one: str, other: str):
    """What varies from one occurrence to the next leaves the template as it is."""
    assert mask(one) == mask(other)


@given(st.lists(WORDS, max_size=4).map(" ".join))
def test_template_of_a_template_is_itself(text: str):
    """Masking is idempotent."""
    assert mask(text) == mask(mask(text))


@given(st.lists(WORDS | WORDS.map(lambda text: re.sub(r"[0-9@/~\\]", "x", text)), max_size=4).map(" ".join) | st.text())
def test_quick_look_misses_nothing(text: str):
    """What is found at likely places, by groups of rules, is what one expression of all rules finds."""
    assert find_by_groups(text) == find_by_all(text)


@given(st.lists(WORDS | CUT | GLUE, max_size=9).map("".join))
def test_quick_look_misses_no_cut_example(text: str):
    """The same holds where the rules' examples are cut and glued together."""
    assert find_by_groups(text) == find_by_all(text)


@given(st.text())
def test_any_text_has_a_template(text: str):
    """Masking raises for no text, and its result is a template."""
    assert mask(text) == mask(mask(text))


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit",
    [
        "a", "1", "'", '"', "/", "[", "<", "a-", "a.", "a/", "a@", "1.", "1,", "1:", "1-", "1_", "/a?", "'/tmp/a ",
        "::", "C:/", "Command '", "Key (", "input_value=", "assert '", "https://a/1", "Nov 1 ", "max a ", "a =1",
        "<num>", "a1-", "' == '",
    ],
)  # fmt: skip
def test_hostile_text_takes_linear_time(unit: str):
    """A hundred thousand characters of any kind are masked well within a second."""
    text = unit * (100_000 // len(unit))

    assert costs_little(lambda: mask(text))


@pytest.mark.skipif(not PAIRS.exists(), reason="the labelled pairs are not beside this checkout")
def test_labelled_pairs():
    """Labelled pairs merge or stay apart by their templates alone, where masking decides the case."""
    pairs = [json.loads(line) for line in PAIRS.read_text().splitlines()]
    decided = [pair for pair in pairs if not pair["case"].startswith(BEYOND_MASKING)]

    assert [pair["case"] for pair in decided if (mask(pair["a"]) == mask(pair["b"])) != pair["same"]] == []
    assert len(decided) > 20


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("got 512 rows, then 17 of 512", ["512", "17"], id="numbers once"),
        pytest.param("invalid literal for int() with base 10: 'abc'", ["'abc'"], id="literal"),
        pytest.param("Tried to allocate 865.00 MiB", ["865.00 MiB"], id="size"),
        pytest.param("Limit 30000, Used 29120", ["29120"], id="behind a label"),
        pytest.param(
            "refused by ('10.0.0.7', 51234) after 3.2s, job 7c1811ed-1f3b-4c55-9b1f-1de0a1b2c3d4", [], id="noise"
        ),
        pytest.param("app.py:42: <num> of them", [], id="line numbers and templates"),
    ],
)
def test_values_are_what_a_reader_may_want_to_know(text, expected):
    """Numbers, sizes and literals tell something; what varies by itself does not."""
    assert values(text) == expected


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_examples_for_and_against(rule):
    """A rule without a text that it must leave alone takes too much sooner or later."""
    assert rule.masks
    assert rule.keeps
