"""The labelled errors that everything is measured on; they lie beside the repository and are never part of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

DEFAULT = Path(__file__).parents[3] / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """
    A raw error and the fault that led to it.
    """

    text: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """
    Two raw errors, and whether they are the same failure.
    """

    case: str
    a: str
    b: str
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """
    One failure as it came four times, and the strings without which nobody can mend it.
    """

    name: str
    variants: tuple[str, ...]
    must_survive: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """
    All labelled errors.
    """

    errors: tuple[Labelled, ...]
    pairs: tuple[Pair, ...]
    kinds: tuple[Kind, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Every raw error, once."""
        texts = [error.text for error in self.errors]
        texts += [text for pair in self.pairs for text in (pair.a, pair.b)]
        texts += [text for kind in self.kinds for text in kind.variants]
        return tuple(dict.fromkeys(texts))


def load(folder: Path) -> Data:
    """
    Read the labelled errors.

    Raises:
        FileNotFoundError: They are not there; the message says what is looked for and how to name another folder.
    """
    errors = folder / "errors"
    for part in ("grouping.jsonl", "pairs.jsonl", "kinds/meta.json"):
        if not (errors / part).is_file():
            raise FileNotFoundError(f"{errors / part} is missing; name the folder of the labelled data with --data")
    return Data(
        errors=tuple(
            Labelled(text=row["raw_error_text"], label=row["label"]) for row in _rows(errors / "grouping.jsonl")
        ),
        pairs=tuple(
            Pair(case=row["case"], a=row["a"], b=row["b"], same=row["same"]) for row in _rows(errors / "pairs.jsonl")
        ),
        kinds=_kinds(errors / "kinds"),
    )


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _kinds(folder: Path) -> tuple[Kind, ...]:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return tuple(
        Kind(
            name=name,
            variants=tuple(
                path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.glob(f"{name}.v*.{of['ext']}"))
            ),
            must_survive=tuple(of["must_survive"]),
        )
        for name, of in sorted(meta.items())
    )
