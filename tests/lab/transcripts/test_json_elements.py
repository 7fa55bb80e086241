"""How a long document of many runs is read run by run."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.lab.transcripts import read
from otel_errcompact.lab.transcripts.file_values import read_values

SMALL = 64
"""A length from which on the documents of these tests are long."""


def is_run(value, field):
    """Tell runs of these tests, of a list or of the field `rows`."""
    return isinstance(value, dict) and "run" in value and field in {"", "rows"}


def values(path, *, long=SMALL, **options):
    """Read a file; return the values, their fields and lines, and what was said without the path."""
    problems = []
    found = [
        (value, place.line, place.field)
        for value, place in read_values(path, on_problem=problems.append, is_run=is_run, long=long, **options)
    ]
    return found, [str(problem).removeprefix(str(path)) for problem in problems]


@pytest.fixture
def write(tmp_path):
    """Writes a file of the given text."""

    def write_text(text):
        path = tmp_path / "runs.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_text


def runs(count):
    """Make runs."""
    return [{"run": number, "text": "x" * 20} for number in range(count)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(json.dumps(runs(9)), [1] * 9, id="one-line"),
        pytest.param(json.dumps(runs(9)) + "\n", [1] * 9, id="one-line-with-its-end"),
        pytest.param("\n\n" + json.dumps(runs(3)), [3] * 3, id="after-blank-lines"),
        pytest.param("\ufeff" + json.dumps(runs(3)), [1] * 3, id="byte-order-mark"),
        pytest.param(json.dumps(runs(3), indent=1), [2, 6, 10], id="indented"),
        pytest.param("[\n" + ",\n".join(map(json.dumps, runs(9))) + "\n]\n", list(range(2, 11)), id="a-line-each"),
    ],
)
def test_elements_are_values_of_their_own(write, text, lines):
    """Each run of a long list is a value, with its number and the line on which it begins."""
    found, problems = values(write(text))
    expected = runs(len(lines))
    assert problems == []
    assert found == [(run, line, f"[{number}]") for number, (run, line) in enumerate(zip(expected, lines, strict=True))]


def test_elements_of_a_field_are_documents_of_their_own(write):
    """A format may hold its runs in a field: each is handed on as the only one in it."""
    found, problems = values(write(json.dumps({"rows": runs(4), "total": 4})))
    assert ([value for value, _, _ in found], problems) == ([{"rows": [run]} for run in runs(4)], [])


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([{"message": "x" * 100}] * 3, id="list-of-something-else"),
        pytest.param({"other": runs(5)}, id="another-field"),
        pytest.param({"run": 1, "text": "x" * 100}, id="one-run"),
        pytest.param([], id="empty-list"),
        pytest.param([["x" * 100]], id="list-of-lists"),
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_other_long_documents_are_read_whole(write, value, indent):
    """What is no list of runs is one value, however long it is."""
    found, problems = values(write(json.dumps(value, indent=indent)))
    assert ([one for one, _, _ in found], problems) == ([value], [])


def test_a_short_list_reads_as_a_long_one(write):
    """Its runs are values as well, wherever the length of a long one begins."""
    path = write(json.dumps(runs(3), indent=1))
    short, long = values(path, long=10_000)[0], values(path)[0]
    assert [(value, field) for value, _, field in short] == [(value, field) for value, _, field in long]


def test_json_lines_may_begin_with_a_long_line(write):
    """A first line that is long is no document for that."""
    text = "".join(f"{json.dumps(run)}\n" for run in [{"run": 0, "text": "x" * 500}, *runs(2)])
    found, problems = values(write(text))
    assert ([line for _, line, _ in found], problems) == ([1, 2, 3], [])


@pytest.mark.parametrize(
    ("text", "count", "problem"),
    [
        pytest.param(
            json.dumps(runs(9))[:-20],
            8,
            ":1: is not valid JSON (Unterminated string starting at: column 373) and is skipped: "
            "it was cut off; record it again or remove it",
            id="cut-off-in-a-text",
        ),
        pytest.param(
            "[" + ",\n".join(map(json.dumps, runs(3))),
            3,
            ":3: is not valid JSON (Expecting ',' delimiter: column 43) and is skipped: "
            "it was cut off; record it again or remove it",
            id="cut-off-between-two",
        ),
        pytest.param(
            "[" + ",\n".join([*map(json.dumps, runs(3)), '{"run": nil}', *map(json.dumps, runs(3))]) + "]",
            3,
            ":4: is not valid JSON (Expecting value: column 9) and is skipped: mend or remove it",
            id="broken",
        ),
        pytest.param(
            "[" + " ".join(map(json.dumps, runs(3))) + "]",
            1,
            ":1: is not valid JSON (Expecting ',' delimiter: column 45) and is skipped: mend or remove it",
            id="comma-missing",
        ),
        pytest.param(
            "[" + ",\n".join([*map(json.dumps, runs(3)), '{"run": ' + "[" * 100_000]),
            3,
            ":4: nests too deeply and is skipped",
            id="nests-too-deeply",
        ),
        pytest.param(
            "[" + ",\n".join([*map(json.dumps, runs(3)), '{"run": ' + "9" * 5_000 + "}"]) + "]",
            3,
            ":4: holds a number of thousands of digits and is skipped",
            id="number-too-long",
        ),
        pytest.param(
            json.dumps(runs(3)) + "\n" + json.dumps(runs(3)),
            3,
            ": holds more after the end of its list, which is ignored; split it into files",
            id="more-after-the-end",
        ),
    ],
)
def test_a_malformed_list_is_read_up_to_there(write, text, count, problem):
    """The runs before are read; what is wrong is told once, with its line."""
    found, problems = values(write(text))
    assert (len(found), problems) == (count, [problem])


def test_invalid_bytes_are_told_once(write):
    """From the first invalid byte on such bytes read as U+FFFD; the runs are read all the same."""
    text = json.dumps(runs(3)).encode().replace(b"xxxx", b"x\xe9x\xe9")
    found, problems = values(write(text))
    assert (len(found), found[0][0]["text"][:4]) == (3, "x\ufffdx\ufffd")
    assert problems == [":1: is not valid UTF-8 from here on; the invalid bytes read as U+FFFD"]


def test_an_element_beyond_the_limit_is_told_of(write):
    """A run that is too long ends the list, and is not kept in memory beyond the limit."""
    text = json.dumps([*runs(2), {"run": 2, "text": "x" * 5_000_000}, *runs(2)])
    found, problems = values(write(text), limit=1_000)
    assert len(found) == 2
    assert problems == [
        ":1: is longer than 1,000 bytes and is skipped, with what follows; split it into JSON lines",
    ]


def test_all_bytes_are_counted(write):
    """The sum of what was read is the size of the file, also of what follows the list."""
    path = write(json.dumps({"rows": runs(100), "rest": ["x" * 100] * 100}))
    progress = []
    values(path, on_bytes=progress.append)
    assert sum(progress) == path.stat().st_size


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    rows=st.lists(st.fixed_dictionaries({"run": JSON}), min_size=1, max_size=6),
    indent=st.none() | st.integers(0, 2),
    ascii_only=st.booleans(),
)
def test_what_is_read_is_what_was_written(tmp_path_factory, rows, indent, ascii_only):
    """Law: read run by run or whole, a list gives the same runs."""
    text = json.dumps(rows, indent=indent, ensure_ascii=ascii_only)
    path = tmp_path_factory.getbasetemp() / "law.json"
    path.write_bytes(text.encode("utf-8", "replace"))
    by_run, whole = values(path, long=1), values(path, long=10**6)
    assert [value for value, _, _ in by_run[0]] == [value for value, _, _ in whole[0]]
    assert (by_run[1], whole[1]) == ([], [])


@pytest.mark.cost
@pytest.mark.parametrize("shape", ["lines", "list"])
def test_memory_is_that_of_one_run(tmp_path, shape):
    """Of a file of 24 MB with 240 runs, no more than a few runs and what was read ahead are in memory."""
    run = {"task_id": 1, "traj": [{"role": "user", "content": "x" * 100_000}]}
    line = json.dumps(run)
    path = tmp_path / "runs.json"
    path.write_text("[" + ", ".join([line] * 240) + "]" if shape == "list" else f"{line}\n" * 240)
    tracemalloc.start()
    count = sum(1 for _ in read(path, on_problem=pytest.fail))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 240
    # The first 16 MiB of a document are read before it is known to be long, as bytes and as text.
    assert peak < (64 if shape == "list" else 1) * 2**20


def test_traces_of_a_long_document_are_read_one_by_one(tmp_path, samples):
    """Jaeger's document of traces is long where white space makes it so, and gives the same traces."""
    document = json.loads((samples / "jaeger.json").read_text())
    path = tmp_path / "jaeger.json"
    path.write_text(
        '{"data": [' + (" " * 17_000_000).join([*map(json.dumps, document["data"]), "]}"]).replace(" ]", "]")
    )
    long, short = (list(read(one, on_problem=pytest.fail)) for one in (path, samples / "jaeger.json"))
    assert [(trace.run_id, trace.spans) for trace in long] == [(trace.run_id, trace.spans) for trace in short]
