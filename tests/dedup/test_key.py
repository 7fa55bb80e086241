"""When two failures are the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.dedup.key import MAX_CAUSE, dedup_key, template_of
from otel_errcompact.errors import Facts, Location

REFUSED = Facts(
    type="builtins.ConnectionRefusedError",
    cause="[Errno 111] Connect call failed ('127.0.0.1', 51234)",
    location=Location(function="query", file="/srv/app/db.py", line=42),
)


def key(**changes: object) -> str:
    """Return the key of the refused connection with some facts changed."""
    facts = {name: getattr(REFUSED, name) for name in ("type", "cause", "location", "details", "key_cause")} | changes
    facts = Facts(**facts)
    return dedup_key(facts, template_of(facts))


def test_key_is_known():
    """The key is sixteen hexadecimal characters, and the same today as on the day it was first written to a store."""
    assert key() == "b66f493667b0eab3"


@pytest.mark.programs
def test_key_is_the_same_in_every_process():
    """The key depends on no seed of the process."""
    program = (
        "from otel_errcompact.dedup.key import *; from otel_errcompact.errors import *;"
        "print(dedup_key(Facts(type='KeyError', cause='x'), 'x'))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("0", "1", "2")
    }

    assert {dedup_key(Facts(type="KeyError", cause="x"), "x")} == keys


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"type": "ConnectionRefusedError"}, id="type without its module"),
        pytest.param({"location": Location(function="query", file="/srv/app/db.py", line=63)}, id="another line"),
        pytest.param({"location": Location(function="query", file="C:\\app\\db.py", line=42)}, id="another folder"),
        pytest.param({"cause": "[Errno 111] Connect call failed ('127.0.0.1', 47002)"}, id="another ephemeral port"),
        pytest.param({"details": ("retried 3 times",)}, id="other details"),
        pytest.param({"cause": "shown", "key_cause": REFUSED.cause}, id="the same cause for the key"),
    ],
)
def test_same_class(changes: dict[str, object]):
    """Line, folder, module of the type, values and details do not make another class."""
    assert key() == key(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"type": "ConnectionResetError"}, id="another type"),
        pytest.param({"location": Location(function="save", file="db.py")}, id="another function"),
        pytest.param({"location": Location(function="query", file="cache.py")}, id="another file"),
        pytest.param({"cause": "[Errno 104] Connect call failed ('127.0.0.1', 51234)"}, id="another errno"),
        pytest.param({"key_cause": "pool exhausted"}, id="another cause for the key"),
    ],
)
def test_other_class(changes: dict[str, object]):
    """Type, function, file and the meaning of the cause each make another class."""
    assert key() != key(**changes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("assets/index-4185d9aa.js", "assets/index-BF3OJZ91.js", id="hash of a build"),
        pytest.param("/tmp/tmpk3j2h1/3344.py", "/tmp/tmpzz81qa/90211.py", id="numbered temporary file"),
    ],
)
def test_volatile_file_names_are_one(one: str, other: str):
    """Hashes of builds and made-up names of files do not split a class."""
    assert key(location=Location(file=one)) == key(location=Location(file=other))


def test_type_in_words_stays_whole():
    """A type that a tool words freely has no qualification to drop."""
    assert key(type="exit code 1. make") != key(type=" make")
    assert key(type="Error.") != key(type="")


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_fields_do_not_run_into_one_another(kind: str, function: str, cause: str):
    """Moving text from one field to the next changes the key."""
    moved = Facts(type=f"{kind}x", cause=cause, location=Location(function=function))
    kept = Facts(type=kind, cause=cause, location=Location(function=f"x{function}"))

    assert dedup_key(moved, cause) != dedup_key(kept, cause)


@given(st.text(st.characters(), max_size=50))
def test_any_text_has_a_key(text: str):
    """Also lone surrogates and control characters have a key."""
    assert len(dedup_key(Facts(type=text, cause=text, location=Location(function=text, file=text)), text)) == 16


def test_long_causes_are_bounded():
    """What differs only far behind the start of a cause is the same failure."""
    assert len(template_of(Facts(type="", cause="x" * 10_000))) == MAX_CAUSE
