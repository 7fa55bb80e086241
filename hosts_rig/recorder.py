"""A hook that keeps what a host hands it, and answers what it finds beside: `recorder.py FOLDER EVENT`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def main() -> None:
    """
    Keep one event, and answer it.
    """
    folder, event = Path(sys.argv[1]), sys.argv[2]
    text = sys.stdin.read()
    # Hooks of parallel calls run at the same time; what is being written has another suffix.
    part = folder / f"{time.time_ns()}-{os.getpid()}-{event}.part"
    part.write_text(text, encoding="utf-8")
    part.rename(part.with_suffix(".json"))
    answer = folder / f"answer-{event}"
    if answer.exists():
        sys.stdout.write(answer.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
