"""The failures in recorded agent runs: of which formats they are, and what agents would read of some of them."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.quality.ours import OUT_OF_REACH
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.events import Observation
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.engine.listeners import Listener
from otel_errcompact.installation.install import current_ledger
from otel_errcompact_lab.replay import open_pipeline
from otel_errcompact_lab.transcripts import find, read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from otel_errcompact.engine.listeners import Receivers
    from otel_errcompact.errors import RawError

PROSE = "prose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """
    One failure of a recorded run.
    """

    source: str
    """The folder of its transcript."""

    raw: RawError
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """
    A raw error beside what an agent would read of it at its first occurrence.
    """

    source: str
    format: str
    raw: str
    digest: str


class _Collector(Listener):
    def __init__(self) -> None:
        self.source = ""
        self.failures: list[Failure] = []

    def receivers(self) -> Receivers:
        """Return what keeps failures."""
        return {Observation: self._keep}

    def _keep(self, observation: Observation) -> None:
        self.failures.append(Failure(source=self.source, raw=observation.raw, format=observation.found.facts.format))


def failures(folder: Path) -> list[Failure]:
    """Replay all transcripts, and return every failure that an agent would have been told of."""
    options = OUT_OF_REACH.model_copy(update={"trajectory": TrajectoryOptions(enabled=False)})
    collector = _Collector()
    with open_pipeline(options) as pipeline:
        current_ledger().listeners.add(collector)
        for path in find([folder]):
            collector.source = path.relative_to(folder).parts[0]
            for record in read(path, on_problem=lambda _: None):
                for _ in pipeline.play(record):
                    pass
            for _ in pipeline.finish():
                pass
    return collector.failures


def formats(found: Sequence[Failure]) -> dict[str, Counter[str]]:
    """Return how many failures of each transcript folder are of each format, the most frequent format first."""
    total = Counter(failure.format for failure in found)
    counts: dict[str, Counter[str]] = {name: Counter() for name, _ in total.most_common()}
    for failure in found:
        counts[failure.format][failure.source] += 1
    return counts


def structured_share(found: Sequence[Failure]) -> float:
    """Return the share of failures that some parser understood."""
    return sum(failure.format != PROSE for failure in found) / len(found) if found else 1.0


def sample(found: Sequence[Failure], count: int, seed: int) -> list[Sampled]:
    """Return so many failures chosen at random, each beside its first digest."""
    chosen = random.Random(seed).sample(list(found), min(count, len(found)))
    return [
        Sampled(
            source=failure.source,
            format=failure.format,
            raw=failure.raw.text,
            digest=Ledger(OUT_OF_REACH).observe("run", failure.raw).text,
        )
        for failure in chosen
    ]
