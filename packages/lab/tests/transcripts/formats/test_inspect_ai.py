"""What is read of Inspect AI's logs."""

from __future__ import annotations

import json
import struct
import zipfile

import pytest

from otel_errcompact_lab.transcripts import RecordedCall, find, read
from otel_errcompact_lab.transcripts.file_values import read_values

FIRST_NS = 946_684_800_000_000_000
MS = 1_000_000


def problems_of(path):
    """Read a file; return the runs and what was said without the path."""
    problems = []
    runs = list(read(path, on_problem=problems.append))
    return runs, [str(problem).removeprefix(f"{path}: ") for problem in problems]


@pytest.fixture
def archive(tmp_path, samples):
    """Make the sample log as an archive."""
    log = json.loads((samples / "inspect_ai.json").read_text())
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("_journal/start.json", "{}")
        for sample in log.pop("samples"):
            made.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        made.writestr("header.json", json.dumps(log))
    return path


def test_each_sample_is_a_run(sample):
    """Its first score that is a grade judges it; an error has ended it."""
    assert [(run.run_id, run.agent, run.outcome, run.succeeded) for run in sample("inspect_ai.json")] == [
        ("shop/sum.1", "inspect-ai", "includes C", True),
        ("shop/2.1", "inspect-ai", "exact 0", False),
        ("shop/3.1", "inspect-ai", "TimeoutError()", False),
        ("shop/4.1", "inspect-ai", "", None),
    ]


def test_a_call_has_an_error_or_none(sample):
    """The model is answered the error in place of the text."""
    calls = sample("inspect_ai.json")[0].calls
    assert calls[1] == RecordedCall(
        tool="read",
        call_id="call_2",
        arguments='{"file":"/sum"}',
        result="No such file: /sum",
        flagged=True,
        start_ns=FIRST_NS + MS,
        end_ns=FIRST_NS + 3 * MS,
        line=2,
        context_tokens=calls[1].context_tokens,
    )
    assert (calls[0].tool, calls[0].arguments, calls[0].flagged) == ("bash", '{"cmd":"cat sum.py"}', False)


def test_an_archive_reads_as_the_document(archive, sample):
    """Sample by sample; its size is told as it is read."""
    sizes: list[int] = []
    runs = list(read(archive, on_problem=pytest.fail, on_bytes=sizes.append))
    assert [(run.run_id, run.outcome, run.calls) for run in runs] == [
        (run.run_id, run.outcome, run.calls) for run in sample("inspect_ai.json")
    ]
    assert (sum(sizes), list(find([archive.parent]))) == (archive.stat().st_size, [archive])


def test_an_archive_that_was_not_finished_has_no_header(tmp_path):
    """Its runs are named by the file."""
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("samples/1_epoch_1.json", '{"id": 1, "epoch": 1, "messages": []}')
        made.writestr("samples/2_epoch_1.json", "{")
    runs, problems = problems_of(path)
    assert ([run.run_id for run in runs], len(problems)) == (["log/1.1"], 1)


def test_what_python_cannot_unpack_is_said_once(archive):
    """As zstd before Python 3.14."""
    raw = archive.read_bytes()
    # The method stands behind the signature, in the entry (8 bytes) and in the directory (10 bytes); 99 is none.
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        parts = raw.split(signature)
        method = struct.pack("<H", 99)
        raw = signature.join([parts[0], *(p[: offset - 4] + method + p[offset - 2 :] for p in parts[1:])])
    archive.write_bytes(raw)
    said = (
        "is compressed as this Python cannot read it, as with zstd before Python 3.14; write it as JSON with "
        "'inspect log convert --to json'"
    )
    assert problems_of(archive) == ([], [said])


def test_other_archives_are_no_logs(tmp_path, archive):
    """Whether whole or broken, one message says so."""
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("notes.txt", "x")
    assert problems_of(path) == ([], ["is an archive without samples; name a log of Inspect AI"])
    path.write_bytes(archive.read_bytes()[:200])
    assert problems_of(path) == (
        [],
        ["is a broken archive (File is not a zip file); record it again or remove it"],
    )


def test_a_long_sample_is_skipped(archive):
    """A small archive may hold what fills the memory."""
    problems = []
    values = list(read_values(archive, on_problem=problems.append, limit=200))
    assert (len(values), str(problems[0]).removeprefix(f"{archive}: ")) == (
        3,
        "samples/sum_epoch_1.json is longer than 200 bytes and is skipped",
    )
