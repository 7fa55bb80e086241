"""The short form of fuzzing: fixed inputs at all that takes text of others, and texts made against every pattern."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest

from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz import patterns
from benchmarks.fuzz.growth import Growth, find_growth
from benchmarks.fuzz.targets import TARGETS, BrokenLawError, plant

pytestmark = pytest.mark.cost

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("target", TARGETS)
def test_laws_hold_for_whatever_comes(target, capsys):
    """`make fuzz` tries a million inputs."""
    code = fuzz.run([target], inputs=60, seconds=60, seed=11, keep=None)

    assert (code, capsys.readouterr().err) == (0, "")


def breaks(act, data: bytes = b"abc") -> str:
    with pytest.raises(fuzz.FailureError) as failure:
        fuzz.try_input(act, data)
    return str(failure.value)


def test_an_exception_that_is_not_documented_is_found():
    """With its type, its place and its words."""

    def act(_: bytes) -> None:
        raise KeyError("x")

    assert breaks(act) == "KeyError  'x'"


def test_a_broken_law_is_found():
    """Such as a secret in an output."""

    def act(data: bytes) -> None:
        raise BrokenLawError("a planted secret is hidden")

    assert breaks(act) == "BrokenLawError  a planted secret is hidden"


def test_time_that_grows_faster_than_the_input_is_found(monkeypatch):
    """It is compared with that of a longer input."""
    monkeypatch.setattr(fuzz, "MOMENT_S", 0.0)
    monkeypatch.setattr(fuzz, "PER_BYTE_S", 0.0)

    assert breaks(lambda data: [data.count(b"c") for _ in data], b"c" * 1_000).startswith("the time grows faster")


def test_time_that_is_long_and_grows_with_the_input_is_none():
    """What is linear may take its time."""
    fuzz.try_input(lambda data: [data.count(b"a") for _ in range(400_000)], b"a" * 100)


def windows(size: int) -> int:
    """Return the steps of a pattern that tries up to 300 characters from each place of a text."""
    return sum(min(300, place) for place in range(size))


def measured(steps, slower_by):
    """Return what finds growth in a clock that a machine's neighbours make slower, for each input in turn."""
    turns = cycle(slower_by)
    return find_growth(lambda text: 1e-9 * steps(len(text)) * next(turns), lambda size: "a" * size, 1_000)


@pytest.mark.parametrize(
    "steps", [pytest.param(lambda size: 300 * size, id="linear"), pytest.param(windows, id="windows")]
)
@pytest.mark.parametrize(
    "slower_by",
    [
        pytest.param([1], id="none"),
        pytest.param([1, *[2] * 200], id="twice, but once"),
        pytest.param([30, 1, 7, 30, 30], id="mostly"),
        pytest.param([1, 1, 1, 100, 100], id="in stretches"),
    ],
)
def test_neighbours_of_a_machine_make_no_growth_of_what_is_linear(steps, slower_by):
    """Where the short text had a quiet moment that no longer one had, too."""
    assert measured(steps, slower_by) is None


@pytest.mark.parametrize("slower_by", [pytest.param([1], id="none"), pytest.param([1, 3, 2, 10], id="some")])
def test_growth_is_found_beside_neighbours(slower_by):
    """Of 32 times the text, which takes 1,024 times as long; the bound is 181."""
    assert measured(lambda size: size**2, slower_by) == Growth(pytest.approx(0.001), pytest.approx(0.181, rel=0.01))


def test_what_takes_long_is_compared_with_less():
    """A text of 100 ms with one 4.6 times as long, so that a second is enough."""
    assert measured(lambda size: 100 * size**2, [1]) == Growth(pytest.approx(0.1), pytest.approx(1.0, rel=0.01))


def test_a_planted_secret_stands_on_a_line_of_its_own():
    """It follows from the input, so that an input that breaks a law breaks it again."""
    text, secret = plant(b"one\ntwo")

    assert secret in text.split("\n")
    assert plant(b"one\ntwo") == (text, secret)


@pytest.mark.parametrize(
    ("source", "searches"),
    [
        pytest.param(r"(?:a+)+b", False, id="nested"),
        pytest.param(r" *x? *y", False, id="adjacent"),
        pytest.param(r"\s+$", True, id="searched"),
        pytest.param(r"x.*end", True, id="many beginnings"),
        pytest.param(r"\[ZeroDivisionError\] at [^(]*\(", True, id="few beginnings, quickly passed"),
        pytest.param(r"\s*ran:\s*\n(?s:.*?)\n\s*got\Z", False, id="cubic"),
    ],
)
def test_a_pattern_that_grows_is_found(source, searches):
    """By a text that is made from the pattern itself."""
    found = patterns.check(patterns.Used("packages/lab/otel_errcompact_lab/a.py:1", source, 0, searches))

    assert found is not None
    assert found.reached


@pytest.mark.parametrize(
    ("source", "searches"),
    [
        pytest.param(r"(?:a++)*+b", False, id="possessive"),
        pytest.param(r" {0,4}x? {0,4}y", True, id="bounded"),
        pytest.param(r"\s+$", False, id="matched"),
        pytest.param(r"(?<![0-9])[0-9]+\Z", True, id="begins once"),
    ],
)
def test_a_pattern_that_does_not_grow_is_passed(source, searches):
    """Whatever is made from it."""
    assert patterns.check(patterns.Used("packages/lab/otel_errcompact_lab/a.py:1", source, 0, searches)) is None


@pytest.mark.parametrize(
    "rooms",
    [
        *(
            pytest.param((f"tools/{initials}",), id=f"formats {initials}")
            for initials in ("[a-d]", "[e-i]", "[j-o]", "[p-z]")
        ),
        *(
            pytest.param((f"extract/{room}/",), id=room)
            for room in ("cleaning", "evidence", "findings", "stacks", "testing", "messages", "payload")
        ),
        pytest.param(("extract/[a-z_]+[.]py",), id="extract"),
        *(
            pytest.param((f"(?:otel_errcompact|packages)/{room}/",), id=room)
            for room in ("context", "dedup", "detector", "lab", "redaction")
        ),
        pytest.param(
            (r"(?:otel_errcompact|packages)/(?!extract|context|dedup|detector|lab|redaction)",), id="all other rooms"
        ),
    ],
)
def test_no_pattern_that_texts_of_any_length_reach_grows_faster_than_they_do(rooms):
    """Where one grows faster, a bound stands in front of it, and what takes texts does not grow so."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz.patterns", *rooms],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[1-9][0-9]* patterns: ", done.stdout, re.MULTILINE)


def test_every_pattern_is_looked_at():
    """As many as importing all of the package makes; there are more than a thousand."""
    program = "from benchmarks.fuzz.patterns import collect; print(len(collect()))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert int(done.stdout) > 1_000
