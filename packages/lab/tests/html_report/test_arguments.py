"""Arguments as people read them."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.redaction.redact import redact
from otel_errcompact_lab.html_report import arguments as module
from otel_errcompact_lab.html_report.arguments import preview, read_arguments
from otel_errcompact_lab.html_report.steps import Argument

KEY = "sk-ant-api03-Zt8Qw2Lm5Xr9Kd4Vb7Np1Hs6Jf3Gy0Tc"


def _plain(text: str) -> str:
    return text


def _read(value: object) -> list[tuple[str, str]]:
    text = value if isinstance(value, str) else json.dumps(value)
    return [(each.name, each.text) for each in read_arguments(text, _plain)[0]]


def test_code_keeps_its_lines() -> None:
    """Not as one line of escapes."""
    assert _read({"path": "a.py", "code": "if x:\n    y()"}) == [("path", "a.py"), ("code", "if x:\n    y()")]


def test_lines_deep_inside_have_the_way_to_them_as_name() -> None:
    """As an edit tool's list of replacements has them."""
    edits = {"edits": [{"old": "a\nb", "new": "c"}], "dry": False}
    assert _read(edits) == [("edits[0].old", "a\nb"), ("edits[0].new", "c"), ("dry", "false")]


def test_json_is_indented_where_it_is_long() -> None:
    """And stays on one line where it is short."""
    long = {"filter": {"customers": ["a" * 40, "b" * 40]}, "page": {"size": 10}}
    assert _read(long) == [
        ("filter", '{\n  "customers": [\n    "' + "a" * 40 + '",\n    "' + "b" * 40 + '"\n  ]\n}'),
        ("page", '{"size": 10}'),
    ]


@pytest.mark.parametrize("text", ["ls -l", "{broken", "*** Begin Patch\n-a\n+b"])
def test_what_is_no_json_stays_as_it_was_written(text: str) -> None:
    """Code executors and patch tools take plain text."""
    assert _read(text) == [("", text)]


def test_a_list_is_one_argument() -> None:
    """It has no names."""
    assert _read([1, 2]) == [("", "[1, 2]")]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_no_arguments(text: str) -> None:
    """An empty text is none."""
    assert read_arguments(text, _plain) == ((), 0)


def test_depth_and_number_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left out is counted."""
    monkeypatch.setattr(module, "MAX_ARGUMENT", 5)
    many = {f"a{number}": "1234567" for number in range(30)}
    found, more = read_arguments(json.dumps(many), _plain)
    assert (len(found), more) == (24, 6)
    assert found[0] == Argument(name="a0", text="12345", cut=2)
    deep = "[" * 100_000
    assert read_arguments(deep, _plain)[0][0].cut == 99_995


def test_a_secret_hidden_by_escapes_is_taken_out() -> None:
    """JSON may write any character as an escape."""
    escaped = "".join(f"\\u{ord(char):04x}" for char in KEY)
    found, _ = read_arguments('{"token": "' + escaped + '"}', redact)
    assert KEY not in found[0].text
    assert KEY not in preview('{"token": "' + escaped + '"}', redact)
    assert "REDACTED" in found[0].text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"command": "pytest -x\\n  tests"}', "pytest -x tests"),
        ('{"sql": "select 1", "limit": 10}', "sql=select 1, limit=10"),
        ('{"replace_all": false, "path": "a.py", "text": "b"}', "path=a.py, text=b, replace_all=false"),
        ("print(1)\nprint(2)", "print(1) print(2)"),
        ('{"a": "\\u202eevil"}', "evil"),
        ("", ""),
        ("x" * 200, "x" * 137 + "..."),
    ],
)
def test_a_preview_is_one_short_line(text: str, shown: str) -> None:
    """A single text needs no name, and flags come last."""
    assert preview(text, _plain) == shown
