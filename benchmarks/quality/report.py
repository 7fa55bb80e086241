"""What was measured, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.quality.hostile import Slowest
    from benchmarks.quality.measure import Grouping, Showing
    from benchmarks.quality.ours import Longer
    from benchmarks.quality.recorded import Sampled

SHOWN_CHARACTERS = 3_000
"""Characters of a sampled raw error that are printed."""


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; all columns but the first are numbers."""
    lines = [_row(heads), _row(["---", *["---:"] * (len(heads) - 1)])]
    return "\n".join([*lines, *map(_row, rows)])


def groupings(found: Sequence[Grouping], errors: int) -> str:
    """Return how well each way to make keys tells errors apart."""
    heads = (f"keys of {errors} errors", "groups", "precision", "recall", "F1", "ARI", "GA", "merge", "apart")
    rows = (
        (
            each.name,
            each.groups,
            *(f"{value:.3f}" for value in (*each.pairwise, each.ari, each.ga)),
            f"{each.merged}/{each.to_merge}",
            f"{each.apart}/{each.to_part}",
        )
        for each in found
    )
    return table(heads, rows)


def showings(found: Sequence[Showing], kinds: int, strings: int) -> str:
    """Return what each way to show errors takes and keeps."""
    raw = found[0]
    heads = (
        "shown",
        f"once, of {raw.raw_once // 4:,} tokens",
        f"x4, of {raw.raw_four // 4:,}",
        "items kept",
        "strings kept",
        "items after v1",
        "strings after v1",
    )
    rows = (
        (
            each.name,
            f"{each.once // 4:,} ({_change(each.once, each.raw_once)})",
            f"{each.four // 4:,} ({_change(each.four, each.raw_four)})",
            f"{each.items}/{kinds}",
            f"{each.strings}/{strings}",
            f"{each.items_at_once}/{kinds}",
            f"{each.strings_at_once}/{strings}",
        )
        for each in found
    )
    return table(heads, rows)


def costs(found: Mapping[str, float]) -> str:
    """Return what an error costs."""
    return table(("cost of one error", "us"), ((name, f"{value:,.1f}") for name, value in found.items()))


def hostile(found: Sequence[Slowest]) -> str:
    """Return the slowest hostile texts."""
    rows = ((each.name.replace("|", "\\|"), f"{each.milliseconds:.1f}") for each in found)
    return table(("slowest texts of 1 MB", "ms"), rows)


def longer(found: Sequence[Longer], texts: int) -> str:
    """Return how many digests are longer than their raw error, and which."""
    head = f"Digests longer than their raw error: {len(found)} of {texts}."
    return "\n\n".join((head, *(f"{_fenced(each.raw)}\n\n{_fenced(each.digest)}" for each in found[:5])))


def formats(counts: Mapping[str, Mapping[str, int]], share: float) -> str:
    """Return how many recorded failures are of each format, by transcript folder."""
    sources = sorted({source for by_source in counts.values() for source in by_source})
    rows = (
        (name, sum(by_source.values()), *(by_source.get(source, 0) for source in sources))
        for name, by_source in counts.items()
    )
    total = sum(sum(by_source.values()) for by_source in counts.values())
    head = f"Recorded failures: {total}; understood by a parser: {share:.1%}."
    return f"{head}\n\n{table(('format', 'all', *sources), rows)}"


def samples(found: Sequence[Sampled], seed: int) -> str:
    """Return raw errors beside their digests."""
    parts = [f"{len(found)} raw errors chosen with seed {seed}, and their first digests"]
    for number, each in enumerate(found, 1):
        head = f"### {number}. {each.source}, {each.format}: {len(each.raw)} -> {len(each.digest)} characters"
        parts += [head, _fenced(_cut(each.raw)), _fenced(each.digest)]
    return "\n\n".join(parts)


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _change(now: int, before: int) -> str:
    return f"{(now - before) / before:+.1%}" if before else "none"


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    half = SHOWN_CHARACTERS // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters not printed ...\n{text[-half:]}"


def _fenced(text: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}\n{text.rstrip()}\n{fence}"
