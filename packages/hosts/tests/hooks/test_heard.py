"""Hooks that bring nothing but the start of a session are told of at the next one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from otel_errcompact_hosts.heard import Heard
from otel_errcompact_hosts.hooks import answer
from otel_errcompact_hosts.runs import LedgerRuns


@pytest.fixture
def heard(tmp_path: Path) -> Heard:
    """In a folder that is not there yet."""
    return Heard(tmp_path / "data")


def grow_old(tmp_path: Path, seconds: float) -> None:
    """Let the last event of Gemini CLI be so old."""
    then = time.time() - seconds
    os.utime(tmp_path / "data" / "heard" / "gemini", (then, then))


def test_a_session_of_which_only_the_start_was_heard_is_told_of_once(heard: Heard, tmp_path: Path) -> None:
    """The next one heard of is told; the one after it is not."""
    assert heard.note("gemini", "s1", is_start=True) == ""
    grow_old(tmp_path, 61)
    assert heard.note("gemini", "s2", is_start=True).endswith("'errcompact hooks doctor gemini' says why")
    heard.note("gemini", "s2", is_start=False)
    grow_old(tmp_path, 61)
    assert heard.note("gemini", "s3", is_start=True) == ""


def test_a_session_that_began_a_moment_ago_may_still_speak(heard: Heard, tmp_path: Path) -> None:
    """As two windows that are opened one after another; one that begins again is the same."""
    heard.note("gemini", "s1", is_start=True)
    grow_old(tmp_path, 50)
    assert heard.note("gemini", "s2", is_start=True) == ""
    grow_old(tmp_path, 61)
    assert heard.note("gemini", "s2", is_start=True) == ""


def test_the_age_is_that_of_the_last_event(heard: Heard, tmp_path: Path) -> None:
    """Nothing is known of a host that was never heard of."""
    assert heard.age("gemini") is None
    heard.note("gemini", "s1", is_start=False)
    grow_old(tmp_path, 3_600)
    assert (heard.age("gemini") or 0) > 3_599


def test_an_event_is_noted_again_where_its_file_was_removed(heard: Heard, tmp_path: Path) -> None:
    """Of events that say the same, those after the first one only renew the file."""
    for _ in range(2):
        heard.note("gemini", "s1", is_start=False)
        grow_old(tmp_path, 3_600)
    heard.note("gemini", "s1", is_start=False)
    assert (heard.age("gemini") or 0) < 3_000
    (tmp_path / "data" / "heard" / "gemini").unlink()
    heard.note("gemini", "s1", is_start=False)
    assert heard.age("gemini") is not None


def test_a_folder_that_cannot_be_written_loses_the_note_alone(tmp_path: Path) -> None:
    """Here it is a file."""
    (tmp_path / "data").write_text("")
    assert Heard(tmp_path / "data").note("gemini", "s1", is_start=True) == ""


def test_the_user_reads_it_at_the_start_of_a_session(heard: Heard, runs: LedgerRuns, tmp_path: Path) -> None:
    """Beside the conversation; the trials of the doctor and the end of a session are not heard of."""
    runs.heard = heard
    start = {"hook_event_name": "SessionStart", "session_id": "s1"}
    assert answer("gemini", start, runs) == {}
    answer("gemini", {"hook_event_name": "SessionEnd", "session_id": "s1"}, runs)
    answer("gemini", {"hook_event_name": "BeforeAgent", "session_id": "doctor-1", "prompt": "no"}, runs)
    grow_old(tmp_path, 61)
    said = answer("gemini", {**start, "session_id": "s2"}, runs)
    assert str(said["systemMessage"]).startswith("errcompact: of the session before this one nothing was heard")
    answer("gemini", {"hook_event_name": "BeforeAgent", "session_id": "s2", "prompt": "no"}, runs)
    grow_old(tmp_path, 61)
    assert answer("gemini", {**start, "session_id": "s3"}, runs) == {}
