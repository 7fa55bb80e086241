"""
What compacting a message list costs, layer by layer: `python -m benchmarks.context.cost`.

Processor time, the best of `ROUNDS` runs, each with an archive of its own in a folder, beside `json.dumps` of the same
list: on a busy machine only the ratio of the two means something. The lists are of an agent at work, with results of
400 characters, of which each fifth is a failure.
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from typing import TYPE_CHECKING, Final

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import FolderArchive
from otel_errcompact_context.notes import LAYERS
from otel_errcompact_context.window.window import ContextWindow
from packages.context.tests.conversations import FORMATS, long_conversation

if TYPE_CHECKING:
    from otel_errcompact_context.messages import FormatName
    from otel_errcompact_context.notes import Compaction

SIZES: Final = (1_000, 10_000, 100_000)
ROUNDS: Final = 3


def main() -> None:
    """Print a table: what each layer takes, and what it leaves."""
    print(
        f"| format | messages | read, ms | {', ms | '.join(LAYERS)}, ms "
        "| all, ms | json.dumps, ms | ratio | tokens before | after |"
    )
    print("|---" * (len(LAYERS) + 8) + "|")
    for name in FORMATS:
        for size in SIZES:
            messages = long_conversation(name, messages=size)
            runs = [measured(messages, name) for _ in range(ROUNDS)]
            taken, compaction = min(runs, key=lambda run: run[0])
            dumping = min(dumped(messages) for _ in range(ROUNDS))
            reading = min(read(messages, name) for _ in range(ROUNDS))
            spent = {note.layer: f"{note.duration_ns / 1e6:.0f}" for note in compaction.notes}
            layers = " | ".join(spent.get(layer, "-") for layer in LAYERS)
            before, after = compaction.tokens_before, compaction.tokens_after
            print(
                f"| {name} | {size:,} | {reading:.0f} | {layers} | {taken:.0f} | {dumping:.0f} "
                f"| {taken / dumping:.1f} | {before:,} | {after:,} |",
                flush=True,
            )


def measured(messages: list[object], name: FormatName) -> tuple[float, Compaction]:
    """Return the milliseconds of one compaction, and what it did."""
    with tempfile.TemporaryDirectory() as folder:
        window = ContextWindow(
            ContextOptions(),
            archive=FolderArchive(folder),
            count_tokens=estimate_mixed_tokens,
            timer=time.process_time_ns,
            observers=(),
        )
        start = time.process_time()
        compaction = window.compact(messages, format=name)
        return (time.process_time() - start) * 1e3, compaction


def dumped(messages: list[object]) -> float:
    """Return the milliseconds that the standard library takes to write a list as JSON."""
    start = time.process_time()
    json.dumps(messages)
    return (time.process_time() - start) * 1e3


def read(messages: list[object], name: FormatName) -> float:
    """Return the milliseconds that reading takes; the garbage collector pauses, as it does in a window."""
    gc.disable()
    start = time.process_time()
    providers.read_list(messages, estimate_mixed_tokens, name)
    taken = time.process_time() - start
    gc.enable()
    return taken * 1e3


if __name__ == "__main__":
    main()
