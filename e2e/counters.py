"""One form for what the library has counted and for what Prometheus says, so that they can be compared."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from e2e.backends import Prometheus

    Counters = Mapping[tuple[str, frozenset[tuple[str, str]]], float]
    """Values by metric and labels."""

NAMES: Final = {
    "errcompact.errors": "errcompact_errors_total",
    "errcompact.escalations": "errcompact_escalations_total",
    "errcompact.resolutions": "errcompact_resolutions_total",
    "errcompact.runs": "errcompact_runs_total",
    "errcompact.context.tokens": "errcompact_context_tokens_total",
    "errcompact.internal.failures": "errcompact_internal_failures_total",
    "errcompact.context.compactions": "errcompact_context_compactions_total",
    "errcompact.context.layer.tokens": "errcompact_context_layer_tokens_total",
    "errcompact.context.overflows": "errcompact_context_overflows_total",
}
"""Written out: a test that derives names as the code does would be wrong in the same way."""

AGENT: Final = "gen_ai_agent_name"
RESOURCE: Final = {
    "__name__", "job", "instance", "service_name", "service_namespace", "deployment_environment_name",
    "service_instance_id",
}  # fmt: skip
"""Labels that say who counted, not what."""


def counted(points: Iterable[Mapping[str, Any]], *, without: frozenset[str] = frozenset()) -> Counters:
    """Return what the library itself has counted, from the points of its instruments."""
    found: Counter[tuple[str, frozenset[tuple[str, str]]]] = Counter()
    for point in points:
        if point["instrument"] in NAMES:
            labels = {name.replace(".", "_"): str(value) for name, value in point["attributes"].items()}
            found[NAMES[point["instrument"]], _labels(labels, without)] += point["value"]
    return dict(found)


def arrived(prometheus: Prometheus, service: str, *, without: frozenset[str] = frozenset()) -> Counters:
    """Return what Prometheus says that a service has counted."""
    names = "|".join(NAMES.values())
    # Programs that have ended send nothing any more, and an instant query forgets them after five minutes.
    samples = prometheus.query(f'last_over_time({{__name__=~"{names}", service_name="{service}"}}[2h])')
    found: Counter[tuple[str, frozenset[tuple[str, str]]]] = Counter()
    for labels, value in samples:
        found[labels["__name__"], _labels(labels, RESOURCE | without)] += value
    return dict(found)


def _labels(labels: Mapping[str, str], without: Iterable[str]) -> frozenset[tuple[str, str]]:
    left_out = set(without)
    return frozenset((name, value) for name, value in labels.items() if name not in left_out)
