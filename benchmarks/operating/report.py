"""The tables."""

from __future__ import annotations

from typing import Any

MILLION = 1_000_000
MB = 1_000_000
MIB = 2**20
GIB = 2**30
DAY = 86_400


def tables(measured: dict[str, Any]) -> str:
    """Return all that was measured as Markdown."""
    return "\n\n".join((_chain(measured), _costs(measured), _prometheus(measured), _away(measured))).strip()


def _chain(measured: dict[str, Any]) -> str:
    agents, arrived = measured["agents"], measured["arrived"]
    rows = [
        ("machine", measured["machine"]),
        ("load average before", f"{measured['load']:.1f}"),
        ("failures", f"{agents['failures']:,.0f} by {agents['processes']} processes, {agents['classes']} classes"),
        ("raw errors, mean", f"{agents['raw_bytes'] / agents['failures']:,.0f} bytes"),
        ("failures per second, agents and all programs", f"{agents['failures'] / agents['worked_s']:,.0f}"),
        ("counted in Prometheus", f"{arrived['failures']:,.0f}"),
        ("exceptions found in Jaeger", f"{arrived['spans']:,.0f}"),
        ("raw errors compared byte for byte", f"{arrived['same']} the same, {len(arrived['different'])} different"),
        ("escalations, agents / arrived", f"{agents['escalations']:,.0f} / {arrived['escalations']:,.0f}"),
        ("lost", f"{measured['lost']:,.0f}"),
    ]
    return table(("the chain", "measured"), rows)


def _costs(measured: dict[str, Any]) -> str:
    agents = measured["agents"]
    per_million = MILLION / agents["failures"]
    rows = [
        (
            "agents (they do nothing else)",
            f"{agents['cpu_s'] * per_million:,.0f}",
            "",
            f"{agents['peak_bytes'] / MB:,.0f}",
            f"{agents['trajectory_bytes'] * per_million / MB:,.0f} (trajectory file, not rotated)",
        )
    ]
    for name, used in measured["programs"].items():
        left = measured["disk"].get(name)
        rows.append(
            (
                name,
                f"{used['cpu_s'] * per_million:,.0f}",
                f"{100 * measured['idle_before'][name]:.1f} % / {100 * measured['idle_after'][name]:.1f} %",
                f"{used['peak_bytes'] / MB:,.0f}",
                "" if left is None else f"{left * per_million / MB:,.0f}",
            )
        )
    header = (
        "per million failures",
        "CPU seconds",
        "idle, of one core, before / after",
        "peak memory, MB",
        "disk, MB",
    )
    return table(header, rows)


def _prometheus(measured: dict[str, Any]) -> str:
    head, block, series = measured["head"], measured["block"], measured["series"]
    per_sample = block["chunk_bytes"] / block["samples"]
    ours = {name: count for name, count in series.items() if name.startswith("errcompact_")}
    rules = sum(count for name, count in series.items() if ":" in name or name.startswith("ALERTS"))
    rows = [
        *((f"series of `{name}`", f"{count:,}") for name, count in sorted(ours.items())),
        ("series of the library, per process", f"{sum(ours.values()) / measured['agents']['processes']:,.0f}"),
        ("series of rules and alerts", f"{rules:,}"),
        ("series in the head", f"{head['series']:,}"),
        ("samples per second, all", f"{measured['samples_per_s']:,.0f}"),
        ("samples per second, of rules", f"{head['rule_samples_per_s']:,.0f}"),
        ("rules take, of one core", f"{100 * head['rule_seconds_per_s']:.1f} %"),
        ("bytes per sample, in a block", f"{per_sample:.2f}"),
        ("index bytes per series and block", f"{block['index_bytes'] / block['series']:,.0f}"),
        ("MB per day at these samples per second", f"{measured['samples_per_s'] * DAY * per_sample / MB:,.0f}"),
    ]
    return table(("Prometheus", "measured"), rows)


def _away(measured: dict[str, Any]) -> str:
    if "jaeger_away" not in measured:
        return ""
    jaeger, collector = measured["jaeger_away"], measured["collector_away"]
    in_queue = jaeger["queue_bytes"] / jaeger["failures"]
    waiting = collector["waiting"]
    # Every span of the trace waits, the healthy ones too.
    held = collector["failures"] * waiting["spans"] / collector["spans"]
    in_agent = waiting["bytes"] / held
    rows = [
        ("failures while Jaeger was away", f"{jaeger['failures']:,.0f}"),
        ("bytes in the collector's queue per failure", f"{in_queue:,.0f}"),
        ("bytes of the queue's file per failure", f"{jaeger['queue_disk_bytes'] / jaeger['failures']:,.0f}"),
        ("minutes that 2 GiB of queue last at 100 failures per second", f"{2 * GIB / in_queue / 100 / 60:,.0f}"),
        ("lost once Jaeger was back", f"{jaeger['lost']:,.0f}"),
        ("failures while the collector was away", f"{collector['failures']:,.0f}"),
        ("spans that wait in the agent", f"{waiting['spans']:,}"),
        ("bytes in the agent per failure, by its own estimate", f"{in_agent:,.0f}"),
        ("memory that the agent has grown by, MB", f"{collector['memory_bytes'] / MB:,.0f}"),
        ("minutes that 64 MiB last at 1 failure per second", f"{64 * MIB / in_agent / 60:,.0f}"),
    ]
    return table(("away", "measured"), rows)


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)
