"""Outcomes of runs by a user's own labels."""

from __future__ import annotations

import csv
import io
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from otel_errcompact_lab.transcripts import RecordedRun

MAX_NAMED: Final = 3
"""Labels that a message names; further ones are counted."""

_WORDS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Outcomes:
    """Labels of runs: an id, a path's end, or path:id."""

    def __init__(self, labels: Mapping[str, bool], source: str) -> None:
        self.source = source
        self._labels = dict(labels)
        self._taken: dict[str, str] = {}
        """The run that each label was of."""

    def of(self, run: RecordedRun) -> bool | None:
        """
        Return whether a run reached its goal; None without a label.

        Raises:
            ConfigurationError: The label names another run, too.
        """
        label = next((name for name in _names_of(run) if name in self._labels), None)
        if label is None:
            return None
        place = f"{run.run_id} in {run.source}"
        if label in self._taken:
            raise ConfigurationError(
                f"{self.source}: the label {label!r} names two runs, {self._taken[label]} and {place}; name each "
                "by more of its path, or as path:run"
            )
        self._taken[label] = place
        return self._labels[label]

    def describe_unused(self) -> str:
        """Return a message about labels without a run; empty without any."""
        left = [name for name in self._labels if name not in self._taken]
        if not left:
            return ""
        named = ", ".join(left[:MAX_NAMED]) + (", ..." if len(left) > MAX_NAMED else "")
        return (
            f"{len(left):,} of {len(self._labels):,} labels name no run: {named}; a label is a run's id, or the end of "
            "its file's path, or path:run"
        )


def _names_of(run: RecordedRun) -> Iterator[str]:
    # The most particular name first.
    parts = run.source.replace("\\", "/").split("/")
    stems = {PurePath(parts[-1]).stem, parts[-1].partition(".")[0] or parts[-1]}
    folders = ["/".join((*parts[start:-1], "")) for start in range(len(parts))]
    files = [f"{folder}{name}" for folder in folders for name in (parts[-1], *sorted(stems, key=len, reverse=True))]
    if run.run_id not in stems:
        yield from (f"{file}:{run.run_id}" for file in files)
        yield run.run_id
    yield from files
    yield run.run_id


def read_outcomes(path: Path) -> Outcomes:
    """
    Read labels from JSON or CSV with the columns `run` and `succeeded`.

    Raises:
        ConfigurationError: The file cannot be read, or a label is none; the message says which, and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from error
    try:
        return Outcomes(_labels_in(text), str(path))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error


def _labels_in(text: str) -> dict[str, bool]:
    labels: dict[str, bool] = {}
    pairs = _in_json(text) if text.lstrip().startswith(("{", "[")) else _in_csv(text)
    for place, name, value in pairs:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"{place}: names no run; it needs the field run")
        label = value if isinstance(value, bool) else _WORDS.get(str(value).strip().lower())
        if label is None:
            raise ConfigurationError(f"{place}: succeeded must be true or false, and is {value!r}")
        known = name.strip().replace("\\", "/").removeprefix("./")
        if labels.setdefault(known, label) != label:
            raise ConfigurationError(f"{place}: {known!r} is labelled twice, and differently")
    if not labels:
        raise ConfigurationError('holds no labels; write {"run": true, ...}, or CSV with the columns run,succeeded')
    return labels


def _in_json(text: str) -> Iterator[tuple[str, object, object]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"is no JSON: {error}") from error
    if isinstance(value, dict):
        yield from ((repr(name), name, label) for name, label in cast("dict[str, object]", value).items())
        return
    for number, row in enumerate(cast("list[object]", value), start=1):
        fields = cast("dict[str, object]", row) if isinstance(row, dict) else {}
        yield f"label {number}", fields.get("run"), fields.get("succeeded")


def _in_csv(text: str) -> Iterator[tuple[str, object, object]]:
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    for row in rows:
        yield f"line {rows.line_num}", row.get("run"), row.get("succeeded")
