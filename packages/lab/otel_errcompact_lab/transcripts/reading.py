"""
Reading transcript files of any format, and finding them.

Lines are read one at a time, so that one run is in memory; a document is loaded whole.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import runs_path
from otel_errcompact_lab.transcripts.file_values import read_values
from otel_errcompact_lab.transcripts.formats import FORMATS, cline, kimi_cli, otlp_json
from otel_errcompact_lab.transcripts.records import TranscriptError, is_list
from otel_errcompact_lab.transcripts.run_lives import SharedLives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from otel_errcompact_lab.transcripts.formats import Format
    from otel_errcompact_lab.transcripts.model import RecordedLife, RecordedRun, RecordedTrace
    from otel_errcompact_lab.transcripts.records import OnProblem, Value

_TEXT: Final = ".md"
SUFFIXES: Final = frozenset({".eval", ".json", ".jsonl", ".ndjson", ".traj", _TEXT})
"""Names of the files that are looked into when a folder is walked."""

_BETTER: Final = {cline.FILE: cline.MODEL_FILE, kimi_cli.CONTEXT_FILE: kimi_cli.FILE}
"""Files that are not read where another is beside them, which has the same calls and more of them."""

_KINDS: Final = 5
"""Kinds of files that are named where a folder holds no transcript."""

_FIRST_VALUES: Final = 32
"""How many values may come before the first that shows the format."""


def read(
    path: Path, *, on_problem: OnProblem, on_bytes: Callable[[int], None] | None = None
) -> Iterator[RecordedRun | RecordedTrace | RecordedLife]:
    """
    Read a transcript file of any format, without raising for its contents.

    A trajectory file is read with those that it was moved to when it was full (`FILE.1` and so on), and with the lives
    of its runs, which are in a file beside it.

    Args:
        path: The file.
        on_problem: Takes each malformed line or field, or what is wrong with the file as a whole, as it is met.
        on_bytes: Takes the number of bytes read since its last call; the sum is the size of the file.

    Yields:
        The runs, traces or lives of runs, in the order in which they end in the file.
    """
    values = _split_lists(read_values(path, on_problem=on_problem, on_bytes=on_bytes))
    first, format_ = _detect_format(values)
    if format_ is not None:
        is_trajectory = format_.detect is otlp_json.detect
        older, runs = (rotated_files(path), runs_of(path)) if is_trajectory else ((), ())
        before, after = (
            itertools.chain.from_iterable(read_values(file, on_problem=on_problem, on_bytes=on_bytes) for file in files)
            for files in (older, runs)
        )
        yield from format_.read(itertools.chain(before, first, values, after))
    elif first:
        known = "; ".join(known.description for known in FORMATS)
        on_problem(TranscriptError(str(path), 0, f"is no transcript of a known format; known are: {known}"))


def read_files(
    files: Iterable[Path], *, on_problem: OnProblem, on_bytes: Callable[[int], None] | None = None
) -> Iterator[tuple[Path, Iterator[RecordedRun | RecordedTrace | RecordedLife]]]:
    """
    Read files one after the other, each run once.

    A run of which processes have recorded their parts in files of their own is whole once all files are read.

    Args:
        files: The files.
        on_problem: As for `read`.
        on_bytes: As for `read`.

    Yields:
        A file, and what `read` yields of it; at the end such runs, with the file that told of each first.
    """
    shared = SharedLives()
    for file in files:
        yield file, shared.keep(file, read(file, on_problem=on_problem, on_bytes=on_bytes))
    yield from shared.rest()


def rotated_files(path: Path) -> tuple[Path, ...]:
    """Return the rotated files of a trajectory file, the oldest first."""
    files: list[Path] = []
    while (older := path.with_name(f"{path.name}.{len(files) + 1}")).is_file():
        files.append(older)
    return tuple(reversed(files))


def runs_of(path: Path) -> tuple[Path, ...]:
    """Return the files with the runs of a trajectory file, oldest first."""
    runs = runs_path(path)
    return (*rotated_files(runs), runs) if runs.is_file() else ()


def beside(path: Path) -> tuple[Path, ...]:
    """Return the files that are read with a trajectory file."""
    return (*rotated_files(path), *runs_of(path))


def find(
    paths: Iterable[Path],
    *,
    on_problem: OnProblem | None = None,
    on_skipped: Callable[[Path, tuple[Path, ...]], None] | None = None,
) -> Iterator[Path]:
    """
    Find transcript files.

    A file that is named is taken as it is, so that `read` can say what is wrong with it. In folders, hidden folders
    and files with other suffixes are skipped in silence. No file is found twice.

    Args:
        paths: Files and folders.
        on_problem: Takes each folder that cannot be read, or that holds no transcript.
        on_skipped: Takes, for each folder with transcripts, the other files with such suffixes.

    Yields:
        The files, those of a folder in the order of their names.
    """
    seen: set[str] = set()
    paths = tuple(paths)
    # Files that a trajectory was moved to, and the lives of its runs, are read with the file they belong to.
    seen.update(os.path.realpath(other) for path in paths if path.is_file() for other in beside(path))
    for path in paths:
        found = path.is_file() and os.path.realpath(path) in seen
        skipped: list[Path] = []
        seen_kinds: Counter[str] = Counter()
        for file in _walk_in(path, on_problem, skipped, seen_kinds) if path.is_dir() else (path,):
            found = True
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                seen.update(map(os.path.realpath, beside(file)))
                yield file
        if found and skipped and on_skipped is not None:
            on_skipped(path, tuple(skipped))
        if not found and on_problem is not None:
            among = f" among {_list_kinds(seen_kinds)}" if seen_kinds else ""
            on_problem(TranscriptError(str(path), 0, f"holds no transcript{among}; name a file, or another folder"))


def _detect_format(values: Iterator[Value]) -> tuple[list[Value], Format | None]:
    first: list[Value] = []
    for value in itertools.islice(values, _FIRST_VALUES):
        first.append(value)
        for format_ in FORMATS:
            if format_.detect(value[0]):
                return first, format_
    return first, None


def _list_kinds(kinds: Counter[str]) -> str:
    most, total = kinds.most_common(_KINDS), kinds.total()
    named = ", ".join(f"{count:,} {kind or 'without a suffix'}" for kind, count in most)
    others = total - sum(count for _, count in most)
    more = f" and {others:,} more" if others else ""
    return f"{'1 file' if total == 1 else f'{total:,} files'} ({named}{more})"


def _walk_in(folder: Path, on_problem: OnProblem | None, skipped: list[Path], kinds: Counter[str]) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        if on_problem is not None:
            on_problem(TranscriptError(str(error.filename), 0, f"cannot be read ({error.strerror})"))

    for name, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(inner for inner in folders if not inner.startswith("."))
        for file in sorted(files):
            path = Path(name, file)
            kinds[path.suffix.lower()] += 1
            is_repeat = file in _BETTER and path.with_name(_BETTER[file]).is_file()
            if path.suffix.lower() not in SUFFIXES or not path.is_file() or is_repeat:
                continue
            if not _is_foreign(path):
                yield path
            elif path.suffix.lower() != _TEXT:
                skipped.append(path)


def _is_foreign(path: Path) -> bool:
    # A file that cannot be parsed may be a broken transcript.
    first, format_ = _detect_format(_split_lists(read_values(path, on_problem=lambda _: None)))
    return format_ is None and (bool(first) or path.suffix.lower() == _TEXT)


def _split_lists(values: Iterable[Value]) -> Iterator[Value]:
    for value, place in values:
        if is_list(value) and value and _is_run(value[0]):
            yield from ((element, place.inner(index)) for index, element in enumerate(value))
        else:
            yield value, place


def _is_run(value: object) -> bool:
    # A message is no run on its own: a format that knows a list of messages knows no single one.
    of_list = [format_ for format_ in FORMATS if format_.detect([value])]
    return any(format_.detect(value) for format_ in of_list or FORMATS)
