"""The stack text of an exception is what Python itself prints, also when it is printed again."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.otel.spans import tracebacks
from otel_errcompact.otel.spans.tracebacks import print_exception

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def plain() -> None:
    raise LookupError("no such table" + str({"a": 1}["a"]))


def caused() -> None:
    try:
        plain()
    except LookupError as error:
        raise RuntimeError("could not look up") from error


def in_context() -> None:
    try:
        plain()
    except LookupError:
        {}["b"]


def recursive(depth: int = 20) -> None:
    if depth:
        return recursive(depth - 1)
    raise ValueError(depth)


def unparsable() -> None:
    compile("a = (", "made.py", "exec")


def grouped() -> None:
    try:
        caused()
    except RuntimeError as error:
        raise ExceptionGroup("two", [error, KeyError("c")])  # noqa: B904 - its context is the point


def noted() -> None:
    error = KeyError("d")
    error.add_note("seen in the morning")
    raise error


@pytest.mark.parametrize("fail", [plain, caused, in_context, recursive, unparsable, grouped, noted])
def test_it_is_what_python_prints(fail: Callable[[], None]) -> None:
    """The first time, and the second, when its frames are known; underlines, causes, groups and notes included."""
    with pytest.raises(Exception) as caught:
        fail()
    printed = "".join(traceback.format_exception(caught.value))
    assert print_exception(caught.value)[0] == printed
    assert print_exception(caught.value)[0] == printed


def test_an_exception_that_was_never_raised_has_no_frames() -> None:
    """As tools make them that return their errors."""
    assert print_exception(ValueError("bad"))[0] == "ValueError: bad\n"


def test_a_frame_is_formatted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it fails: that is what makes a loop cheap."""
    formatted: list[int] = []
    whole = traceback.StackSummary.format_frame_summary

    def counting(stack: traceback.StackSummary, frame: traceback.FrameSummary, **options: object) -> str:
        formatted.append(frame.lineno or 0)
        return whole(stack, frame, **options)

    monkeypatch.setattr(traceback.StackSummary, "format_frame_summary", counting)
    tracebacks._frames.clear()
    for _ in range(5):
        with pytest.raises(LookupError) as caught:
            plain()
        print_exception(caught.value)
    assert len(formatted) == 2
    assert len(set(formatted)) == 2


def test_an_edited_file_is_shown_as_it_is(tmp_path: Path) -> None:
    """In a notebook, or where code is reloaded, the same line number has another text."""
    file, printed = tmp_path / "made.py", []
    for name in ("first", "other"):
        file.write_text(f"{name} = None\n{name}.{name}\n")
        with pytest.raises(AttributeError) as caught:
            exec(compile(file.read_text(), str(file), "exec"))
        file.touch()
        printed.append(print_exception(caught.value)[0])
        assert printed[-1] == "".join(traceback.format_exception(caught.value))
    assert "first.first" in printed[0]
    assert "other.other" in printed[1]
