"""Copilot shows the begin of a large output, and keeps the whole in a file."""

from __future__ import annotations

import os
from pathlib import Path

from otel_errcompact.hosts.hooks import answer
from otel_errcompact.hosts.hooks.saved_output import MAX_BYTES, read_saved
from otel_errcompact.hosts.runs import LedgerRuns
from tests.hosts.hooks.sessions import recorded

NAME = "1795747805069-copilot-tool-output-11828-00000000-0000-4000-8000-000000000002.txt"


def large(path: Path) -> dict[str, object]:
    """The recorded event of a large output, which is kept in a file of the test."""
    event = next(each for each in recorded("copilot") if "Output too large" in str(each))
    text = event["toolResult"]["textResultForLlm"]
    recorded_path = text.partition("Saved to: ")[2].partition("\n")[0]
    event["toolResult"]["textResultForLlm"] = text.replace(recorded_path, str(path))
    return event


def test_the_cause_in_the_last_line_is_read(tmp_path: Path, runs: LedgerRuns) -> None:
    """The agent reads it, and where the whole is."""
    path = tmp_path / NAME
    path.write_text("a row\n" * 20_000 + "report failed: column 'region' is missing in customers.csv\n")
    text = answer("copilot", large(path), runs)["modifiedResult"]["textResultForLlm"]  # type: ignore[index]
    assert "report failed: column 'region' is missing in customers.csv" in text
    assert text.splitlines()[-1] == f"whole output: {path}"


def test_a_file_that_is_gone_is_named(tmp_path: Path, runs: LedgerRuns) -> None:
    """The agent must not take the begin for the whole."""
    path = tmp_path / NAME
    text = answer("copilot", large(path), runs)["modifiedResult"]["textResultForLlm"]  # type: ignore[index]
    assert text.splitlines()[-1] == f"only the begin of the output; it is whole in {path}"


def test_only_copilots_own_files_are_read(tmp_path: Path) -> None:
    """The path stands in the output of a tool, which may name any file: no other name, no link, no pipe."""
    secret = tmp_path / "secret.txt"
    secret.write_text("key")
    link = tmp_path / NAME
    link.symlink_to(secret)
    pipe = tmp_path / NAME.replace("1", "2", 1)
    os.mkfifo(pipe)
    paths = (str(secret), str(link), str(pipe), f"{tmp_path}/x/../{NAME}", NAME, f"{link}\n", "", "/" + "a" * 9_999)
    assert [read_saved(path) for path in paths] == [""] * len(paths)


def test_of_a_huge_file_the_end_is_read(tmp_path: Path) -> None:
    """There a program says why it has failed."""
    path = tmp_path / NAME
    path.write_bytes(b"x" * MAX_BYTES + b"end")
    assert read_saved(str(path)).endswith("xend")
    assert len(read_saved(str(path))) == MAX_BYTES
