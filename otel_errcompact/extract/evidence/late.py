"""Evidence that is gathered when it is looked at: a key needs none, and neither does a text that is shown whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from otel_errcompact.errors import Evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class LateEvidence(Sequence[Evidence]):
    """
    Evidence that is gathered at the first look, equal to its tuple.

    Gathering again gives an equal one.
    """

    __slots__ = ("_gather", "_gathered")

    def __init__(self, gather: Callable[[], tuple[Evidence, ...]]) -> None:
        self._gather: Callable[[], tuple[Evidence, ...]] | None = gather
        self._gathered: tuple[Evidence, ...] = ()

    def _look(self) -> tuple[Evidence, ...]:
        gather = self._gather
        if gather is not None:
            # Threads that meet here gather the same; what it was gathered from is let go last.
            self._gathered = gather()
            self._gather = None
        return self._gathered

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._look())

    def __len__(self) -> int:
        return len(self._look())

    @overload
    def __getitem__(self, at: int) -> Evidence: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Evidence]: ...
    def __getitem__(self, at: int | slice) -> Evidence | Sequence[Evidence]:
        return self._look()[at]

    def __eq__(self, other: object) -> bool:
        return self._look() == (other._look() if isinstance(other, LateEvidence) else other)

    def __hash__(self) -> int:
        return hash(self._look())

    def __repr__(self) -> str:
        return repr(self._look())
