"""Evidence that is gathered when it is looked at: a key needs none, and neither does a text that is shown whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, overload

from otel_errcompact.errors import Evidence
from otel_errcompact.extract.evidence.find import find_evidence
from otel_errcompact.extract.folding import fold_temporary
from otel_errcompact.extract.table import UNREAD, listings
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from otel_errcompact.errors import Facts

MIN_EVIDENCE: Final = 400
"""Characters from which on a text may hold more than its facts; a shorter one stays whole by default."""

MAX_KEPT: Final = 4_096
"""Characters of a text that is kept until its evidence is asked for; of a longer one it is gathered at once."""


class LateEvidence(Sequence[Evidence]):
    """
    Evidence that is gathered at the first look, equal to its tuple.

    Gathering again gives an equal one.
    """

    __slots__ = ("_gather", "_gathered")

    def __init__(self, gather: Callable[[], tuple[Evidence, ...]]) -> None:
        self._gather: Callable[[], tuple[Evidence, ...]] | None = gather
        self._gathered: tuple[Evidence, ...] = ()

    def _read_evidence(self) -> tuple[Evidence, ...]:
        gather = self._gather
        if gather is not None:
            # Threads that meet here gather the same; what it was gathered from is let go last.
            self._gathered = gather()
            self._gather = None
        return self._gathered

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._read_evidence())

    def __len__(self) -> int:
        return len(self._read_evidence())

    @overload
    def __getitem__(self, at: int) -> Evidence: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Evidence]: ...
    def __getitem__(self, at: int | slice) -> Evidence | Sequence[Evidence]:
        return self._read_evidence()[at]

    def __eq__(self, other: object) -> bool:
        return self._read_evidence() == (other._read_evidence() if isinstance(other, LateEvidence) else other)

    def __hash__(self) -> int:
        return hash(self._read_evidence())

    def __repr__(self) -> str:
        return repr(self._read_evidence())


def add_evidence(facts: Facts, body: str) -> Facts:
    """Return facts with what their text says beyond them."""
    folded = fold_temporary(facts)
    if len(body) < MIN_EVIDENCE or facts.format in UNREAD:
        return folded
    gather = partial(_gather, facts, body)
    return replace(folded, evidence=LateEvidence(gather) if len(body) <= MAX_KEPT else gather())


def _gather(facts: Facts, body: str) -> tuple[Evidence, ...]:
    if any(row.tells_logs for row in listings() if row.name == facts.format):
        return ()
    return tuple(fold_temporary(replace(facts, evidence=find_evidence(body.split("\n"), facts))).evidence)
