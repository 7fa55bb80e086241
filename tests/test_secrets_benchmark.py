"""The program that measures what redaction leaves of secrets, and a sample of what it measures."""

from __future__ import annotations

import json
import sys
import zlib
from collections import Counter
from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

from benchmarks.secrets import __main__ as program
from benchmarks.secrets import alarms, report
from benchmarks.secrets.context import Context, called
from benchmarks.secrets.contexts import CONTEXTS
from benchmarks.secrets.forms import B62, base, fill
from benchmarks.secrets.kind import Kind, Value, is_held_out, whole
from benchmarks.secrets.kinds import KINDS
from benchmarks.secrets.measure import Pair, is_readable, measure, pairs
from tests.packaging.budget import read_table

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.meta

EVERY = 16
"""One pair of so many is in the sample."""

SAMPLED = 2_460

TOKEN = Kind("token", "ACME_TOKEN", "key", lambda rng: whole(fill("acme_{b62:20}", rng)))
PLAIN = Kind("word", "DB_PASSWORD", "password", lambda rng: whole(fill("{lower:12}", rng)), recognisable=False)
FLAG = Context("flag", "shop --password=%V% --host=db1 failed", ("--host=db1", "failed"), forbids=" ")


def sampled() -> list[Pair]:
    """One of 16 pairs that make sense, the same on every machine."""
    return [
        Pair(kind, context, kind.value(f"{context.name}/1"))
        for kind, context in product(KINDS, CONTEXTS)
        if zlib.crc32(f"{kind.name}/{context.name}".encode()) % EVERY == 0
    ]


@pytest.fixture(scope="module", name="sample")
def _sample() -> list[Pair]:
    return [pair for pair in sampled() if pair.refusal is None]


def test_of_a_sample_no_more_is_readable_or_lost_than_was(sample: list[Pair]) -> None:
    """Which ones is what `python -m benchmarks.secrets` prints of the tuned half."""
    cells = [measure(pair) for pair in sample]
    readable, damaged = sum(cell.leaked for cell in cells), sum(bool(cell.lost) for cell in cells)
    assert len(cells) == SAMPLED
    ceilings = read_table()["ceilings"]
    assert readable <= ceilings["readable_secrets"]
    assert damaged <= ceilings["damaged_texts"]


def test_each_secret_can_be_read_before_redaction(sample: list[Pair]) -> None:
    """By all its parts; and what a reader needs of the text is there."""
    for pair in sample:
        raw, blank = pair.context.fill(pair.kind, pair.value.text), pair.context.fill(pair.kind, "")
        read = f"{raw}\n{pair.context.read(raw)}"
        blank = f"{blank}\n{pair.context.read(blank)}"
        name = (pair.kind.name, pair.context.name)
        assert [part for part in pair.value.parts if part not in read or not is_readable(part, read, blank)] == [], name
        assert [part for part in pair.context.keeps if part not in read] == [], name


def test_each_kind_makes_another_value_of_another_seed_and_the_same_of_the_same() -> None:
    """Names are unique, because the halves are split by them."""
    assert max(Counter(kind.name for kind in KINDS).values()) == 1
    assert [kind.name for kind in KINDS if kind.value("1") != kind.value("1")] == []
    words = {"password: a word", "password: a name and digits"}
    assert {kind.name for kind in KINDS if kind.value("1") == kind.value("2")} <= words


def test_each_context_has_one_place_and_a_name_where_it_says_so() -> None:
    """The name is that of the kind, or a part of the text, or there is none."""
    assert max(Counter(context.name for context in CONTEXTS).values()) == 1
    assert [context.name for context in CONTEXTS if context.text.count("%V%") != 1] == []
    named = {context.name for context in CONTEXTS if "%N%" in context.text}
    assert named == {context.name for context in CONTEXTS if context.naming not in ("none", "text")}


def test_there_are_many_kinds_and_contexts() -> None:
    """And neither half of them is small."""
    assert len(KINDS) >= 200
    assert len(CONTEXTS) >= 80
    assert sum(kind.family == "key" for kind in KINDS) >= 120
    for names in ([kind.name for kind in KINDS], [context.name for context in CONTEXTS]):
        assert 0.4 <= sum(map(is_held_out, names)) / len(names) <= 0.6


@pytest.mark.parametrize(
    ("text", "blank", "expected"),
    [
        pytest.param("pw=abcdefgh", "pw=", True, id="whole"),
        pytest.param("pw=cdef", "pw=", True, id="half in one piece"),
        pytest.param("pw=abc", "pw=", False, id="less than half"),
        pytest.param("pw=abc-def", "pw=", False, id="more than half in two pieces"),
        pytest.param("pw=", "pw=", False, id="gone"),
        pytest.param("abcd pw=", "abcd pw=", False, id="what the text has without the secret"),
    ],
)
def test_half_of_a_secret_in_one_piece_is_readable(text: str, blank: str, expected: bool) -> None:
    """Four characters of eight."""
    assert is_readable("abcdefgh", text, blank) is expected


@pytest.mark.parametrize(
    ("kind", "context", "value", "expected"),
    [
        (TOKEN, FLAG, "acme_x", None),
        (TOKEN, Context("alone", "bad %V%", (), naming="none"), "acme_x", None),
        (PLAIN, Context("alone", "bad %V%", (), naming="none"), "secret", "no name, no form"),
        (PLAIN, FLAG, "two words", "a character ends it"),
        (PLAIN, Context("header", "X-Token: %V%", (), takes=frozenset({"key"})), "secret", "holds other kinds"),
        (Kind("pem", "KEY", "block", lambda _: whole("a\nb")), FLAG, "a\nb", "holds one line"),
    ],
)
def test_pairs_that_make_no_sense_are_left_out(kind: Kind, context: Context, value: str, expected: str | None) -> None:
    """With the reason, which is counted."""
    assert Pair(kind, context, Value(value, (value,))).refusal == expected


def test_a_secret_that_stays_and_what_goes_with_it_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark itself is no part of a secret."""
    pair = next(pairs([PLAIN], [FLAG], 1))
    monkeypatch.setattr("benchmarks.secrets.measure.redact", lambda text: text)
    assert (measure(pair).leaked, measure(pair).lost) == (True, ())
    monkeypatch.setattr("benchmarks.secrets.measure.redact", lambda _: f"shop [REDACTED:{pair.value.text}] failed")
    assert (measure(pair).leaked, measure(pair).lost) == (False, ("--host=db1",))


def test_the_name_is_written_as_the_context_writes_names() -> None:
    """Cookies and variables as they are."""
    namings = ("VARIABLE", "variable", "camel", "kebab", "cookie")
    assert [called("ACME_API_KEY", naming) for naming in namings] == [
        "ACME_API_KEY",
        "acme_api_key",
        "acmeApiKey",
        "acme-api-key",
        "ACME_API_KEY",
    ]


def test_forms_have_alphabets_and_lengths() -> None:
    """And numbers are written in any base."""
    rng = Random(1)
    assert fill("{digits:4}", rng).isdigit()
    assert [len(fill(form, rng)) for form in ("a-{hex:32}", "{base64:32}", "{uuid}")] == [34, 44, 36]
    assert {len(fill("{b62:3-5}", rng)) for _ in range(99)} == {3, 4, 5}
    assert (base(61, B62, 3), base(62, B62, 3)) == ("00z", "010")


def test_of_the_held_out_half_only_totals_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A writer of rules reads no name of it."""
    monkeypatch.setattr(program, "CONTEXTS", CONTEXTS[:12])
    monkeypatch.setattr(program, "KINDS", KINDS[::9])
    monkeypatch.setattr("benchmarks.secrets.measure.redact", lambda text: text)
    monkeypatch.setattr(sys, "argv", ["secrets", "--rows", "99", "--show", "99"])
    assert program.main() == 0
    printed = capsys.readouterr().out
    rows = {line.split(" | ")[0].strip("| ") for line in printed.splitlines() if line.startswith("| ")}
    rows |= {line.removeprefix("### ").partition(" (")[0] for line in printed.splitlines() if line.startswith("### ")}
    names = {each.name for each in (*KINDS[::9], *CONTEXTS[:12])}
    assert {"tuned", "held-out", "mixed"} <= rows
    assert {name for name in names & rows if is_held_out(name)} == set()
    assert {name for name in names & rows if not is_held_out(name)}


def test_the_worst_come_first() -> None:
    """By share, and those without a fault are only counted."""
    cells = [measure(pair) for pair in pairs([PLAIN], [FLAG], 1)]
    text = report.worst("context", cells, lambda cell: cell.context.name, 9)
    assert text.endswith("1 of 1 have neither.")


def test_lines_that_change_are_counted_once_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of files, and lines of strings of JSON and of JSON lines; bytes that are no text are counted."""
    line = "shop --password=Sommer2024 --host=db1"
    (tmp_path / "a.log").write_text(f"{line}\nall is well\n\n{line}\n", encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps({"a": [f"fine\n{line}"], "b": 3}), encoding="utf-8")
    (tmp_path / "c.jsonl").write_text(json.dumps("fine") + "\n" + json.dumps("good"), encoding="utf-8")
    (tmp_path / "d.json").write_text("{not JSON", encoding="utf-8")
    (tmp_path / "e.bin").write_bytes(b"\xff\xfe")
    (tmp_path / "f.bin").write_bytes(b"a\0b")
    assert alarms.main([str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 of 8 lines change (37.500%), 5 distinct, in 4 files; 2 files hold no text.")
    assert f"  - {line}\n  + shop --password=[REDACTED:password] --host=db1" in printed


def test_a_missing_folder_ends_with_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Instead of a table of nothing."""
    assert alarms.main([str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err
