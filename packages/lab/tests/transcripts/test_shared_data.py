"""Real transcripts, where they are at hand: results and flagged errors are those that were counted by hand."""

from __future__ import annotations

import pytest

from otel_errcompact_lab.transcripts import find, read


def read_folder(shared_data, name, prefix=""):
    """Read all runs of a folder."""
    folder = shared_data / "transcripts" / name
    files = [path for path in find([folder], on_problem=pytest.fail) if path.name.startswith(prefix)]
    return [run for path in files for run in read(path, on_problem=pytest.fail)]


@pytest.mark.parametrize(
    ("folder", "prefix", "runs", "results", "flagged"),
    [
        ("claude_code_jsonl", "8463c716", 1, 177, 13),
        ("claude_code_jsonl", "ae4a77f8", 1, 242, 12),
        ("claude_code_jsonl", "subagent", 1, 33, 8),
        ("openai_chat_taubench", "", 200, 1164, 73),
        ("openhands_output", "multi", 3, 105, 45),
        ("openhands_output", "resolver", 2, 24, 0),
        ("swe_agent_traj", "pandas-dev__pandas.95280573.pr_53652", 1, 37, 0),
        ("swe_agent_traj", "pandas-dev__pandas.95280573.pr_53856", 1, 17, 0),
        ("swe_agent_traj", "pydantic", 1, 22, 0),
        ("swe_agent_traj", "marshmallow", 1, 14, 0),
        ("swe_agent_traj", "pydicom", 1, 12, 0),
        ("swe_agent_traj", "BabyEncryption", 1, 16, 0),
        ("swe_agent_traj", "katy", 1, 18, 0),
        ("swe_agent_traj", "rock", 1, 12, 0),
    ],
)
def test_results_and_flags_of_real_runs(shared_data, folder, prefix, runs, results, flagged):
    """Every result is read once, and flagged if the format flags it."""
    found = read_folder(shared_data, folder, prefix)
    calls = [call for run in found for call in run.calls]
    assert (len(found), len(calls), sum(call.flagged is True for call in calls)) == (runs, results, flagged)


def test_real_runs_hold_their_calls(shared_data):
    """But for two calls that could not even be made, every result is paired with its call, and times never run back."""
    folders = ("claude_code_jsonl", "openai_chat_taubench", "openhands_output", "swe_agent_traj")
    calls = [call for folder in folders for run in read_folder(shared_data, folder) for call in run.calls]
    assert sum(not call.tool for call in calls) == 2
    assert sum(not call.arguments for call in calls) == 2
    assert all(call.start_ns <= call.end_ns for call in calls)


def test_real_traces(shared_data):
    """Spans, exception events and failed spans of the traces of an agent."""
    traces = read_folder(shared_data, "otel_jaeger")
    spans = [span for trace in traces for span in trace.spans]
    events = [event for span in spans for event in span.events if event.name == "exception"]
    assert [len(trace.spans) for trace in traces] == [125, 73]
    assert (len(events), sum(span.status == "error" for span in spans)) == (39, 2)
    assert {span.resource["service.name"] for span in spans} == {"helm_agent", "k8s_agent"}


def test_everything_in_the_folder_is_found(shared_data):
    """Licences and notes between the transcripts are passed over."""
    assert len(list(find([shared_data / "transcripts"], on_problem=pytest.fail))) == 16
