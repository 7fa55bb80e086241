"""What the page on the context window asks."""

from __future__ import annotations

from dashboards.metrics import (
    COMPACTIONS,
    FORM,
    LAYER,
    LAYER_DURATION_BUCKET,
    LAYER_TOKENS,
    OVERFLOWS,
    REASON,
    RESULT,
    SERVICE,
)
from dashboards.queries import RATE_WINDOW, grown, scoped, steps, total
from otel_errcompact.otel import semconv


def cut() -> str:
    """Return the counter of layers that have cut something."""
    return scoped(COMPACTIONS, f'{RESULT}="cut"')


def problems() -> str:
    """Return the counter of layers that could not do their work."""
    return scoped(COMPACTIONS, f'{RESULT}="problem"')


def tokens(form: str) -> str:
    """Return the tokens of contexts in one form: `before`, `after`, `invalidated`."""
    return scoped(LAYER_TOKENS, f'{FORM}="{form}"')


def cut_in_range() -> str:
    """How often a layer has cut something."""
    return total(grown(cut()))


def problems_in_range() -> str:
    """How often a layer could not do its work."""
    return total(grown(problems()))


def saved_in_range(*by: str) -> str:
    """Tokens that were taken out of contexts."""
    return f"{total(grown(tokens(semconv.FORM_BEFORE)), *by)} - {total(grown(tokens(semconv.FORM_AFTER)), *by)}"


def invalidated_in_range(*by: str) -> str:
    """Tokens behind the first change, which a prompt cache had to read again."""
    return total(grown(tokens(semconv.FORM_INVALIDATED)), *by)


def overflows_in_range(result: str = ".+") -> str:
    """Calls that a provider refused as too long."""
    return total(grown(scoped(OVERFLOWS, f'{RESULT}=~"{result}"')))


def lost_in_range() -> str:
    """Calls that were refused as too long and not answered in the end."""
    return overflows_in_range("failed|refused")


def cut_by_layer() -> str:
    """How often each layer has cut something."""
    return total(grown(cut()), LAYER)


def cut_over_time() -> str:
    """How often each layer has cut something, by why it ran."""
    return f"{total(steps(cut()), LAYER, REASON)} > 0"


def saved_over_time() -> str:
    """Tokens that each layer has taken out."""
    before, after = (total(steps(tokens(form)), LAYER) for form in (semconv.FORM_BEFORE, semconv.FORM_AFTER))
    return f"{before} - {after}"


def duration(quantile: float) -> str:
    """How long a layer takes."""
    buckets = f"sum by (le, {LAYER}) (rate({scoped(LAYER_DURATION_BUCKET)}[{RATE_WINDOW}]))"
    return f"histogram_quantile({quantile}, {buckets})"


def overflows_over_time() -> str:
    """Calls that were refused as too long, by what became of them."""
    return f"{total(steps(scoped(OVERFLOWS)), RESULT)} > 0"


def problems_over_time() -> str:
    """Layers that could not do their work."""
    return f"{total(steps(problems()), SERVICE, LAYER)} > 0"
