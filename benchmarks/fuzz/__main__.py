"""
Hostile inputs at all that takes text of others, and the laws that hold for whatever comes.

    python -m benchmarks.fuzz [--inputs 1000000] [--minutes M] [--seed N] [--targets A,B] [--atheris] [--keep FOLDER]

Exit code 1 where a law is broken; each input that breaks one in a new way is kept.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.fuzz.growth import find_growth
from benchmarks.fuzz.targets import TARGETS
from otel_errcompact.runtime.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

MOMENT_S: Final = 0.05
PER_BYTE_S: Final = 2e-5
"""An input that takes less than a moment and so much for each byte is not looked at again."""


class FailureError(Exception):
    """
    An input breaks a law.
    """


def try_input(act: Callable[[bytes], None], data: bytes) -> None:
    """
    Hold one input to the laws of its target.

    Raises:
        FailureError: A law is broken, or the time grows faster than the input.
    """
    started = time.thread_time()
    try:
        act(data)
    except Exception as error:
        raise FailureError(_place(error)) from error
    taken = time.thread_time() - started
    if taken > MOMENT_S + PER_BYTE_S * len(data) and _grows_faster(act, data):
        raise FailureError(f"the time grows faster than the input: {taken * 1_000:.0f} ms for {len(data)} bytes")


def _grows_faster(act: Callable[[bytes], None], data: bytes) -> bool:
    return find_growth(partial(_seconds, act), lambda size: data * (size // len(data)), len(data)) is not None


def _seconds(act: Callable[[bytes], None], data: bytes) -> float:
    started = time.thread_time()
    with suppress(Exception):  # only its time is of interest
        act(data)
    return time.thread_time() - started


def _place(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "otel_errcompact" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} {where} {str(error)[:80]}".strip()


def run(names: list[str], *, inputs: int, seconds: float, seed: int, keep: Path | None) -> int:
    """Try inputs by turns until there are enough or the time is over, and print the table; return the exit code."""
    Guard.strict = True
    chance = random.Random(seed)
    tried, taken, found = Counter[str](), Counter[str](), dict[tuple[str, str], bytes]()
    until = time.process_time() + seconds
    while tried.total() < inputs and time.process_time() < until:
        for name in names:
            act, make = TARGETS[name]
            data = make(chance)
            started = time.process_time()
            try:
                try_input(act, data)
            except FailureError as failure:
                key = name, str(failure)
                if key not in found:
                    found[key] = data
                    print(f"BROKEN {name}: {failure}", file=sys.stderr, flush=True)
                    if keep is not None:
                        keep.mkdir(parents=True, exist_ok=True)
                        (keep / f"{name.replace(' ', '_')}-{len(found)}.bin").write_bytes(data)
            taken[name] += time.process_time() - started  # type: ignore[assignment]
            tried[name] += 1
    print(f"seed {seed}, {tried.total():,} inputs in {sum(taken.values()) / 60:.1f} minutes of processor time")
    print("\n| what | inputs | per second | broken laws |\n|---|---:|---:|---:|")
    for name in names:
        broken = sum(target == name for target, _ in found)
        print(f"| {name} | {tried[name]:,} | {tried[name] / max(taken[name], 1e-9):,.0f} | {broken} |")
    return 1 if found else 0


def run_atheris(names: list[str], *, inputs: int, seed: int) -> int:
    """Let atheris choose the inputs, by what code they reach; it ends the process at the first failure."""
    import atheris

    with atheris.instrument_imports(include=["otel_errcompact", "otel_errcompact_context", "otel_errcompact_lab"]):
        for name in ("otel_errcompact.compactor.classify", "otel_errcompact_context", "otel_errcompact_lab.replay"):
            import_module(name)

    def one(data: bytes) -> None:
        if data:
            act, _ = TARGETS[names[data[0] % len(names)]]
            try_input(act, data[1:])

    atheris.Setup([sys.argv[0], f"-runs={inputs}", f"-seed={seed}", "-max_len=4096"], one)
    atheris.Fuzz()
    return 0


def main() -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="of processor time")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--atheris", action="store_true", help="inputs by atheris, which has to be installed")
    parser.add_argument("--keep", type=Path, help="where inputs that break a law are kept")
    arguments = parser.parse_args()
    logging.getLogger("otel_errcompact").setLevel(logging.CRITICAL + 1)  # a million inputs are logged otherwise
    seed = arguments.seed if arguments.seed is not None else int(time.time()) % 10**6
    names = arguments.targets.split(",")
    if arguments.atheris:
        return run_atheris(names, inputs=arguments.inputs, seed=seed)
    return run(names, inputs=arguments.inputs, seconds=60 * arguments.minutes, seed=seed, keep=arguments.keep)


if __name__ == "__main__":
    sys.exit(main())
