"""Copilot shows the beginning of a large output, our shell prefix a digest; both keep the whole in a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from otel_errcompact.engine.ledger import Ledger
from otel_errcompact_hosts.calls import HostCall, HostResult
from otel_errcompact_hosts.hooks import answer
from otel_errcompact_hosts.hooks.saved_output import MAX_BYTES, find_command, read_saved
from otel_errcompact_hosts.runs import LedgerRuns
from packages.hosts.tests.hooks.sessions import recorded

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
    """The agent must not take the beginning for the whole, and nobody knows what is in the file."""
    path = tmp_path / NAME
    text = answer("copilot", large(path), runs)["modifiedResult"]["textResultForLlm"]  # type: ignore[index]
    assert text.splitlines()[-1] == f"only a part of the output was read; whole output: {path}"


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


def test_a_digest_that_was_made_without_the_service_is_counted_as_its_output(tmp_path: Path, runs: LedgerRuns) -> None:
    """The shell prefix did not reach the service, and the hook does: one class, not that of the digest."""
    path = tmp_path / "output-20261122-100000-4711.log"
    first = next(each for each in recorded("claude-code") if "JSONDecodeError" in str(each.get("error")))
    raw = first["error"].removeprefix("Exit code 1\n")
    path.write_text(raw)
    digest = (
        "[json.decoder.JSONDecodeError] at <module> (stock.py:3): Expecting value: line 1 column 15 (char 14) #e294"
    )
    error = f"Exit code 1\n{digest}\n[errcompact: whole output, {len(raw)} bytes: {path}]"
    answer("claude-code", first, runs)
    said = answer("claude-code", {**first, "error": error, "tool_use_id": "toolu_later"}, runs)
    assert "#e294 again (x2" in str(said)


def test_a_digest_that_the_agent_has_read_already_is_not_said_again(tmp_path: Path, runs: LedgerRuns) -> None:
    """The output behind it is long, and the agent reads only its digest: beside that nothing is new."""
    path = tmp_path / "output-20261122-100000-4712.log"
    event = next(each for each in recorded("claude-code") if "JSONDecodeError" in str(each.get("error")))
    traceback = event["error"].removeprefix("Exit code 1\n")
    path.write_text("reading the stock\n" * 500 + traceback)
    call = HostCall(run_id="r", tool="Bash", arguments=json.dumps(event["tool_input"]), directory=event["cwd"])
    digest = LedgerRuns(ledger=Ledger()).conclude(call, HostResult(text=path.read_text(), exit_code=1)).text
    error = f"Exit code 1\n{digest}\n[errcompact: whole output, 9,642 bytes: {path}]"
    assert answer("claude-code", {**event, "error": error}, runs) == {}
    assert [runs.ledger.report(run).occurrences for run in runs.ledger.store.run_ids()] == [1]


def test_of_a_huge_file_the_end_is_read(tmp_path: Path) -> None:
    """There a program says why it has failed."""
    path = tmp_path / NAME
    path.write_bytes(b"x" * MAX_BYTES + b"end")
    assert read_saved(str(path)).endswith("xend")
    assert len(read_saved(str(path))) == MAX_BYTES


ROLLOUT = "rollout-2026-11-30T01-38-20-01a22a1a-5da9-7da3-be3b-fc75179c5ad3.jsonl"


def codex(runs: LedgerRuns, transcript: Path, status: int, output: str) -> dict[str, object]:
    """What is said to a command of Codex whose transcript holds how it has ended."""
    item = {"type": "CommandExecution", "id": "c1", "aggregated_output": output, "exit_code": status}
    lines = [{"payload": {"type": "other"}}, {"payload": {"item": item}}, {"payload": {"type": "later"}}]
    transcript.write_text("\n".join(json.dumps(line, separators=(",", ":")) for line in lines), encoding="utf-8")
    event = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c1"}
    shown = {"tool_input": {"command": "make"}, "tool_response": "KeyError: 'lines'\n" * 400}
    return answer("codex", {**event, **shown, "transcript_path": str(transcript)}, runs)


def test_the_transcript_of_codex_says_how_a_command_has_ended(tmp_path: Path, runs: LedgerRuns) -> None:
    """The digest in place of the result has the status that the host's own text had."""
    said = codex(runs, tmp_path / ROLLOUT, 3, "row\n" * 4_000 + "export failed: no region\n")
    assert said["decision"] == "block"
    assert str(said["reason"]).splitlines()[-2:][0] == "export failed: no region"
    assert "exit code 3" in str(said["reason"])


def test_a_success_of_codex_is_left_as_it_is(tmp_path: Path, runs: LedgerRuns) -> None:
    """The status declares it, whatever its log says."""
    assert codex(runs, tmp_path / ROLLOUT, 0, "Traceback (most recent call last):\nKeyError: 'lines'\n") == {}


def test_a_result_without_a_known_status_is_not_replaced(tmp_path: Path, runs: LedgerRuns) -> None:
    """The host's text has the status, and a digest would not: what is new stands beside it."""
    assert "decision" not in codex(runs, tmp_path / "other.jsonl", 3, "no")


def test_a_transcript_without_the_command_says_nothing(tmp_path: Path) -> None:
    """Neither a line that is no JSON, nor one of another call."""
    path = tmp_path / ROLLOUT
    assert find_command(str(path), "c1") == {}
    path.write_text('{"type":"CommandExecution","id":"c1", cut')
    assert find_command(str(path), "c1") == {}
    assert find_command(str(path), "c2") == {}
