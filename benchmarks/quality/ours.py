"""This library on the labelled errors, through the same ledger that agents read from."""

from __future__ import annotations

import functools
import statistics
import sys
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import RawError
from otel_errcompact.escalator.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.quality.data import Data, Kind

    _Memory = functools._lru_cache_wrapper[object]  # noqa: SLF001 - it has no public name

NEVER = 10**9
OUT_OF_REACH = Options(thresholds=Thresholds(same=NEVER, consecutive=NEVER, total=NEVER))
SMALL = 4_096
TOOL = "bash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Longer:
    """
    A digest that has more characters than its raw error.
    """

    raw: str
    digest: str


def key_of(text: str) -> str:
    """Return the dedup key of a raw error."""
    return classify(RawError(text=text, tool=TOOL)).key


def shown(kind: Kind, options: Options = OUT_OF_REACH) -> list[str]:
    """Return what the agent reads when the variants of a kind arrive in one run."""
    ledger = Ledger(options)
    return [ledger.observe("run", RawError(text=text, tool=TOOL)).text for text in kind.variants]


def longer_digests(texts: Sequence[str]) -> list[Longer]:
    """Return the first digests that are longer than their raw error."""
    digests = ((text, Ledger(OUT_OF_REACH).observe("run", RawError(text=text, tool=TOOL)).text) for text in texts)
    return [Longer(raw=text, digest=digest) for text, digest in digests if len(digest) > len(text)]


def costs(data: Data) -> dict[str, float]:
    """Return microseconds for one error that has not been seen before, by what is measured."""
    small = [text for text in data.texts if len(text) <= SMALL]
    observing = [_observe(RawError(text=text, tool=TOOL)) for text in small]
    keys = [_cost(functools.partial(_classify, text)) for text in small]
    found = {
        f"observe, median of {len(small)} texts up to 4 kB": statistics.median(observing),
        "observe, p95": statistics.quantiles(observing, n=20)[-1],
        "key alone, median": statistics.median(keys),
        "key alone, p95": statistics.quantiles(keys, n=20)[-1],
    }
    for text in (kind.variants[0] for kind in data.kinds if "pytest" in kind.name):
        lines = len(text.splitlines())
        found[f"observe, pytest output of {lines} lines"] = _observe(RawError(text=text, tool=TOOL))
    for frames in (5, 20):
        error = raised(frames)
        raw = RawError(text="".join(traceback.format_exception(error)), exception=error, tool=TOOL)
        found[f"observe, live exception of {frames} frames"] = _observe(raw)
    return found


def raised(frames: int) -> Exception:
    """Return an exception with a traceback of so many frames."""

    def fail(left: int) -> None:
        if left <= 1:
            raise KeyError("user_id")
        fail(left - 1)

    try:
        fail(frames - 1)
    except KeyError as error:
        return error
    raise AssertionError


def forget() -> None:
    """
    Empty every memory of what was seen, so that an error is looked at as at its first sight.

    They are found by walking the modules, so that a new one is not left out. A cache without a bound holds tables that
    a program makes once, whatever it sees, and stays.
    """
    for memory in find_memories():
        memory.cache_clear()


def find_memories() -> tuple[_Memory, ...]:
    """Return the bounded caches of all loaded modules of the project."""
    return _walk(len(sys.modules))


@functools.lru_cache(maxsize=1)
def _walk(_: int) -> tuple[_Memory, ...]:
    # Modules are loaded when they are needed: they are walked again whenever there are more of them.
    modules = [module for name, module in sys.modules.items() if name.startswith("otel_errcompact")]
    values = [value for module in modules for value in vars(module).values()]
    values += [value for owner in values if isinstance(owner, type) for value in vars(owner).values()]
    caches = {id(value): value for value in values if isinstance(value, type(_walk))}
    return tuple(cache for cache in caches.values() if cache.cache_parameters()["maxsize"] is not None)


def _classify(text: str, _: str) -> None:
    classify(RawError(text=text, tool=TOOL))


def _observe(raw: RawError) -> float:
    ledger = Ledger(OUT_OF_REACH)
    return _cost(lambda run_id: ledger.observe(run_id, raw))


def _cost(call: Callable[[str], object], rounds: int = 5) -> float:
    """Return the CPU time of the quickest of some calls, in microseconds: neighbours can only make it slower."""
    times = []
    for number in range(rounds):
        forget()
        started = time.process_time_ns()
        call(f"run {number}")
        times.append(time.process_time_ns() - started)
    return min(times) / 1_000
