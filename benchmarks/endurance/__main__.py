"""
An hour in which everything around the library fails, and whether its counts stay exact.

    python -m benchmarks.endurance [--minutes 60] [--seed N]
    python -m benchmarks.endurance --outage 10

Exit code 1 where a law is broken.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.endurance import outage, run


def main() -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long workers are started")
    parser.add_argument("--outage", type=float, help="minutes without a collector, under load, and nothing else")
    parser.add_argument("--seed", type=int, default=None, help="of all choices")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else int(time.time()) % 10**6
    # What was started and mounted is taken down again.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="errcompact-endurance-") as folder:
        if arguments.outage is not None:
            broken = outage.endure(Path(folder), minutes=arguments.outage, seed=seed)
        else:
            broken = run.endure(Path(folder), minutes=arguments.minutes, seed=seed)
    for law in broken:
        print(f"BROKEN: {law}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
