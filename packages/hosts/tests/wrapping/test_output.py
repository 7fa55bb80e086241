"""What is held of an output, in memory, in a file, and in a file that is full."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_errcompact_hosts.wrapping import output as module
from otel_errcompact_hosts.wrapping.output import Output
from otel_errcompact_hosts.wrapping.raw_files import RawFile, make_raw_file


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMORY_BYTES", 10)
    monkeypatch.setattr(module, "HEAD_BYTES", 30)
    monkeypatch.setattr(module, "TAIL_BYTES", 20)


@pytest.fixture
def output(tmp_path: Path) -> Output:
    return Output(lambda: make_raw_file({"OTEL_ERRCOMPACT_EXEC_FOLDER": str(tmp_path / "kept")}))


def _refuse() -> RawFile:
    raise OSError("no room")


def test_a_little_stays_in_memory(output: Output, tmp_path: Path) -> None:
    """No file is made for what most commands print."""
    assert output.add(0, b"01234")
    assert output.add(1, b"56789")
    assert list(output.replay()) == [(0, b"01234"), (1, b"56789")]
    assert output.read_ends(4) == (b"01", b"89", 6)
    assert output.read_ends(10) == (b"0123456789", b"", 0)
    assert not (tmp_path / "kept").exists()
    path = output.keep()
    assert Path(path).read_bytes() == b"0123456789"


def test_more_goes_to_a_file_in_order(output: Output) -> None:
    """Streams come back as they came."""
    for index, data in enumerate((b"0123456", b"789abc", b"def", b"ghi")):
        assert output.add(index % 2, data)
    assert list(output.replay()) == [(0, b"0123456"), (1, b"789abc"), (0, b"def"), (1, b"ghi")]
    assert output.can_hold
    assert Path(output.keep()).read_bytes() == b"0123456789abcdefghi"


def test_nothing_more_is_held_once_the_head_is_full(output: Output) -> None:
    """The caller prints what is held, and from then on all as it comes."""
    output.add(0, b"x" * 29)
    assert output.can_hold
    output.add(0, b"x")
    assert not output.can_hold


def test_streams_that_take_turns_without_end_are_not_held(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their order would take more memory than their bytes."""
    monkeypatch.setattr(module, "MAX_CHANGES", 4)
    for number in range(4):
        assert output.can_hold
        output.add(number % 2, b"x")
    assert not output.can_hold
    assert list(output.replay()) == [(0, b"x"), (1, b"x"), (0, b"x"), (1, b"x")]


@pytest.mark.parametrize("sizes", [[75], [7] * 11, [50, 1, 24], [31, 44], [1] * 77])
def test_of_more_than_fits_the_middle_is_left_out(output: Output, sizes: list[int]) -> None:
    """Whatever the chunks, the file has the first 30 and the last 20 bytes."""
    data = bytes(ord("0") + number % 75 for number in range(sum(sizes)))
    position = 0
    for size in sizes:
        assert output.add(0, data[position : position + size])
        position += size
    assert not output.is_whole
    assert output.read_ends(20) == (data[:10], data[-10:], len(data) - 20)
    left_out = len(data) - 50
    expected = data[:30] + f"\n[errcompact: {left_out} bytes left out]\n".encode() + data[-20:]
    assert Path(output.keep()).read_bytes() == expected


def test_exactly_what_fits_is_whole(output: Output) -> None:
    """Nothing is said to be left out where nothing is."""
    data = bytes(range(50))
    output.add(0, data)
    assert output.is_whole
    assert Path(output.keep()).read_bytes() == data


def test_without_a_file_what_memory_holds_can_still_be_printed() -> None:
    """The chunk that no file takes is the caller's to print."""
    output = Output(_refuse)
    assert output.add(0, b"0123456789")
    assert not output.add(0, b"more")
    assert not output.can_hold
    assert list(output.replay()) == [(0, b"0123456789")]
    assert output.keep() == ""


def test_a_dropped_output_leaves_no_file(output: Output, tmp_path: Path) -> None:
    """A success leaves nothing behind."""
    output.add(0, b"x" * 20)
    assert len(list((tmp_path / "kept").iterdir())) == 1
    output.drop()
    assert list((tmp_path / "kept").iterdir()) == []
    assert output.keep() == ""
