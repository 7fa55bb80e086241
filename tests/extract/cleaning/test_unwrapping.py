"""One error has one class, whatever stands around it; and what belongs to it stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError
from otel_errcompact.extract.cleaning.unwrapping import unwrap
from tests.clock import costs_little
from tests.extract.cleaning.wrappings import BARE, WRAPPINGS

STATUS = "exit code "


@pytest.mark.parametrize("how", WRAPPINGS)
def test_a_wrapping_changes_neither_key_nor_facts(how):
    """Type, place, cause and key are those of the bare error; only the exit status may be added."""
    changed = []
    for name, text in BARE.items():
        bare, wrapped = classify(RawError(text=text)), classify(RawError(text=WRAPPINGS[how](text)))
        facts = [(found.facts.type, found.facts.location, found.facts.cause) for found in (bare, wrapped)]
        if wrapped.key != bare.key or facts[0] != facts[1]:
            changed.append((name, *facts))
    assert changed == []


@pytest.mark.parametrize("text", BARE.values(), ids=BARE)
def test_what_belongs_to_an_error_stays(text):
    """Severities, names of programs, places, brackets and quotes are content."""
    assert unwrap(text).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("INFO ready\nERROR no such table", None, id="levels without a time"),
        pytest.param("10:00 INFO ready\n10:01 ERROR no table", None, id="time of another form"),
        pytest.param("10:00:00 INFO ready\n10:00:01 ERROR no table", "INFO ready\nERROR no table", id="levels differ"),
        pytest.param("10:00:00 ERROR no\nsuch\ntable", "no\nsuch\ntable", id="one record of several lines"),
        pytest.param("10:00:00 INFO ready\nno such\ntable", None, id="information before a failure"),
        pytest.param("10:00:00 a\nb\n10:00:01 c", None, id="records of several lines"),
        pytest.param(
            "10:00:00 ERROR a: 1\n10:00:01 ERROR b: 2\n10:00:01 ERROR c: 3", "a: 1\nb: 2\nc: 3", id="loggers differ"
        ),
        pytest.param("10:00:00 ERROR KeyError: 'x'", "KeyError: 'x'", id="type"),
        pytest.param("10:00:00 ERROR main.py:3: boom", "main.py:3: boom", id="place"),
        pytest.param("[ERROR] a\n[ERROR] b\n[ERROR] c", None, id="level as prefix"),
        pytest.param("E   assert 1 == 2\nE    +  where 1 = f()", None, id="lines of pytest"),
        pytest.param("12 | x\n13 | y", None, id="numbered lines of code"),
        pytest.param("id | name\nno | none", "id | name\nno | none", id="table"),
        pytest.param("[api] no such user", None, id="one bracketed name"),
        pytest.param("[api] a\n[db] b", None, id="two bracketed names"),
        pytest.param("[api]\n[api]", None, id="nothing but prefixes"),
        pytest.param("[api] a\nb", None, id="a line without"),
        pytest.param("command failed", None, id="nothing but a frame"),
        pytest.param("Command: dump of shop failed", None, id="label of an error"),
        pytest.param("Error:\n  Code: NotFound\n  Message: no order", None, id="heading of a list"),
        pytest.param('{"error": "no such flight"}', None, id="answer of an API"),
        pytest.param('{"jsonrpc": "2.0", "id": 1, "error": {"code": -32600}}\nand more', None, id="tail of an answer"),
        pytest.param("No match found in a.py for:\n```\nx = 1\n```", None, id="fence that quotes"),
        pytest.param("It went on like this. And on, and on.\n```\nx\n```", None, id="fence behind prose"),
        pytest.param(f"{'x' * 500}\n```\nx\n```", None, id="fence far behind"),
        pytest.param("```\nx\n```\n```\ny\n```", None, id="two fences"),
        pytest.param("```\n\n```", None, id="empty fence"),
        pytest.param("stderr: boom", "boom", id="one stream"),
        pytest.param("Output: boom", None, id="one word that is no stream"),
        pytest.param("Exit code: 1\nSTDOUT:\na\nSTDERR:\nb", "a\nb", id="both streams"),
        pytest.param("print('boom')", None, id="call of a function"),
        pytest.param("Order('a', 'b')", None, id="object of the program"),
        pytest.param("Order(id=3)", None, id="object with fields"),
        pytest.param("KeyError('id')", "KeyError: 'id'", id="exception"),
        pytest.param("shop.NoRates('no rates for 2024')", "shop.NoRates: no rates for 2024", id="own exception"),
        pytest.param("['a', {'b': [1, 2.5, None]}, ('c',)]", None, id="list"),
        pytest.param("'a' + b", None, id="expression"),
        pytest.param("{'stderr': 'boom', 'returncode': -9}", "boom", id="signal"),
        pytest.param("{'content': ''}", None, id="no content"),
        pytest.param("{'output': r'a\\n'}", "{'output': r'a\\n'}", id="one line of output"),
        pytest.param("{'stderr': r'a\\n'}", "a\\n", id="raw string"),
        pytest.param('"\\ud83d\\ude00 \\u00e9"', "\U0001f600 \u00e9", id="surrogates"),
        pytest.param(r"'\x41\102\U00000043\UFFFFFFFF'", "ABC\ufffd", id="escapes"),
        pytest.param("(" * 30 + "'a'" + ")" * 30, None, id="nested without sense"),
        pytest.param("[" * 30 + "'text'" + "]" * 30, None, id="deep list"),
        pytest.param("{" + '"content": {' * 20 + '"text": 3' + "}" * 21, None, id="deep object"),
        pytest.param("(<open file>)", None, id="no value"),
    ],
)
def test_what_comes_off(text, expected):
    """A prefix has one shape in all lines, a frame says nothing of the failure, an envelope holds only an output."""
    assert unwrap(text).text == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        pytest.param("<returncode>7</returncode>\n<output>x</output>", 7, id="tag"),
        pytest.param("<duration>7</duration>\nx", None, id="tag of something else"),
        pytest.param("x\n<exited with exit code 8>", 8, id="Copilot"),
        pytest.param("db | FAILED | rc=9 >>\nx", 9, id="Ansible"),
        pytest.param('{"stdout": "", "stderr": "", "exit_code": 3}', 3, id="no output"),
        pytest.param('{"status": 200, "output": "a\\nb"}', None, id="status of HTTP"),
        pytest.param("Exit code 2\n{'stderr': 'x', 'rc': 3}", 2, id="the outer one"),
    ],
)
def test_the_exit_status_is_kept(text, status):
    """What a wrapping tells of the exit status is a number beside the text."""
    assert unwrap(text).exit_code == status


@given(st.lists(st.sampled_from(list(WRAPPINGS)), max_size=3), st.sampled_from(list(BARE)))
def test_unwrapping_is_idempotent(hows, name):
    """What has been unwrapped has nothing around it."""
    text = BARE[name]
    for how in hows:
        text = WRAPPINGS[how](text)
    once = unwrap(text).text
    assert unwrap(once).text == once


@given(st.text(st.sampled_from("[]{}()<>'\"`b\\ :|-#>1ERO\n\t./=,ax")))
def test_any_text_is_unwrapped(text):
    """Nothing is raised, whatever the text."""
    assert isinstance(unwrap(text).text, str)


def test_a_line_of_many_times_is_unwrapped_a_few_times():
    """What wraps a text more often than any harness does stays."""
    assert unwrap("10:00:00 " * 20 + "x").text.endswith("10:00:00 x")


@pytest.mark.cost
@pytest.mark.parametrize(
    "unit",
    [
        "'", "\\", "'\\n'", "(", "a(", "a='b' ", "10:00:00 ", "10:00:00 ERROR a: ", "[a] ", "[1] ", "<error>", "```\n",
        "> ", "1 | ", "web | ", "Output:\n", "Exit code: 1\n", "Stderr: ", "x:y: ", "- ", "<output>\n", "e:", "[[",
        "==> a\n", "$ a\n", "[lint:a] x\n[lint:b] y\n",
    ],
)  # fmt: skip
def test_hostile_text_costs_little(unit):
    """A text of many beginnings is unwrapped in linear time."""
    text = unit * (200_000 // len(unit))
    assert costs_little(lambda: unwrap(text))
    assert costs_little(lambda: unwrap(f"{text}'"))
