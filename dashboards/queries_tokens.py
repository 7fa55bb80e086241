"""What the page on tokens asks. Every share is of the whole bill: the input tokens that models report."""

from __future__ import annotations

from typing import Final

from dashboards.classes import PLACE, described
from dashboards.metrics import (
    AFTER_ESCALATION,
    AGENT,
    CLASS,
    CLASS_TOKENS,
    CONTEXT_TOKENS,
    ENVIRONMENT,
    ERRORS,
    FORM,
    MODEL,
    NEW,
    OUTCOME,
    REPEAT,
    RUN_ID,
    RUN_TOKENS,
    SERVICE,
    TEMPLATE,
    TOKEN_TYPE,
    TOKEN_USAGE_COUNT,
    TOKEN_USAGE_SUM,
)
from dashboards.queries import RANGE, chosen, grown, scoped, steps, total
from otel_errcompact.otel import semconv

SHARE_WINDOW: Final = "30m"
"""As long as the alert on the share looks back."""


def errors(form: str) -> str:
    """Return the counter of the tokens of errors in one form: whole, as frameworks send them, or as digests."""
    return scoped(CONTEXT_TOKENS, f'{FORM}="{form}"')


def raw() -> str:
    """Return the tokens of raw errors, with whole tracebacks."""
    return errors(semconv.FORM_RAW)


def sent() -> str:
    """Return the tokens that agents would have read without digests: of an exception, what frameworks send."""
    return errors(semconv.FORM_SENT)


def digest() -> str:
    """Return the tokens that digests did cost."""
    return errors(semconv.FORM_DIGEST)


def billed(kind: str) -> str:
    """Return the tokens that models report, `input` or `output`."""
    return scoped(TOKEN_USAGE_SUM, f'{TOKEN_TYPE}="{kind}"')


# In the time range.


def raw_in_range() -> str:
    """Tokens of raw errors."""
    return total(grown(raw()))


def sent_in_range() -> str:
    """Tokens of errors as frameworks send them."""
    return total(grown(sent()))


def digest_in_range() -> str:
    """Tokens of digests."""
    return total(grown(digest()))


def saved_in_range() -> str:
    """Tokens that did not get into the context."""
    return f"{sent_in_range()} - {digest_in_range()}"


def size_in_range() -> str:
    """The size of digests as a share of what frameworks send; nothing where they would have sent nothing."""
    return f"{digest_in_range()} / ({sent_in_range()} > 0)"


def billed_in_range(kind: str) -> str:
    """Tokens that models report."""
    return total(grown(billed(kind)))


def digest_share_in_range() -> str:
    """The share of digests in all input."""
    return f"{_of_billed(digest(), RANGE)} / ({billed_in_range('input')} > 0)"


def sent_share_in_range() -> str:
    """The share that errors would have had without digests: they would have made the input itself longer."""
    return _share_of_sent(RANGE)


def per_failure(form: str) -> str:
    """Tokens per failure in one form."""
    return f"{total(grown(errors(form)))} / ({total(grown(_counted()))} > 0)"


def _counted() -> str:
    # Digests are made of what was observed: not of what was handled, nor of what the collector counted by itself.
    return scoped(ERRORS, f'{OUTCOME}=~"{NEW}|{REPEAT}|{AFTER_ESCALATION}"')


# Over time.


def sent_over_time() -> str:
    """Tokens of errors as frameworks send them, step by step."""
    return total(steps(sent()))


def digest_over_time() -> str:
    """Tokens of digests, step by step."""
    return total(steps(digest()))


def billed_over_time(kind: str) -> str:
    """Tokens that models report, step by step."""
    return total(steps(billed(kind)))


def digest_share() -> str:
    """The share of digests in all input, of the window before each point."""
    return f"{_of_billed(digest(), SHARE_WINDOW)} / ({total(grown(billed('input'), SHARE_WINDOW))} > 0)"


def sent_share() -> str:
    """The share that errors would have had without digests."""
    return _share_of_sent(SHARE_WINDOW)


def _share_of_sent(window: str) -> str:
    whole = total(grown(billed("input"), window))
    sent_tokens = _of_billed(sent(), window)
    return f"{sent_tokens} / (({whole} > 0) - {_of_billed(digest(), window)} + {sent_tokens})"


def _of_billed(series: str, window: str) -> str:
    """Return tokens of those services only whose models report theirs: a part belongs to its own whole."""
    place = f"{SERVICE}, {ENVIRONMENT}"
    return f"sum({grown(series, window)} and on ({place}) {grown(billed('input'), window)} > 0)"


# By service and by model.


def sent_by_service() -> str:
    """Tokens of errors of each service, as frameworks send them."""
    return f"{total(grown(sent()), SERVICE, ENVIRONMENT)} > 0"


def digest_by_service() -> str:
    """Tokens of digests of each service."""
    return f"{total(grown(digest()), SERVICE, ENVIRONMENT)} > 0"


def input_by_service() -> str:
    """Input tokens of each service."""
    return f"{total(grown(billed('input')), SERVICE, ENVIRONMENT)} > 0"


def by_agent(form: str) -> str:
    """Tokens of errors of each agent in one form, the most first."""
    return f"topk(50, {total(grown(errors(form)), SERVICE, ENVIRONMENT, AGENT)} > 0)"


def by_class() -> str:
    """Tokens of the digests of the classes that cost most."""
    costly = f"topk(50, {total(grown(scoped(CLASS_TOKENS)), *PLACE)} > 0)"
    return described(costly, TEMPLATE)


def by_run() -> str:
    """Tokens of the errors of the runs that cost most, of those that are live."""
    return f"topk(50, max by ({SERVICE}, {ENVIRONMENT}, {AGENT}, {RUN_ID}) ({scoped(RUN_TOKENS)}) > 0)"


def of_class() -> str:
    """Tokens of the digests of the classes that were chosen."""
    return total(grown(scoped(CLASS_TOKENS, chosen(CLASS))))


def money_of_digests() -> str:
    """What the digests cost, at the price of a million input tokens that was entered."""
    return _priced("input", digest_in_range())


def money_without_digests() -> str:
    """What the errors would have cost as frameworks send them."""
    return _priced("input", sent_in_range())


def money_of_models(kind: str) -> str:
    """What the models that were chosen cost."""
    return _priced(kind, total(grown(_of_models(kind))))


def _priced(kind: str, tokens: str) -> str:
    # While nothing is entered this is `vector(+ 0)`, and there is no answer.
    return f"({tokens}) / 1e6 * (vector(${{price_{kind}}} + 0) > 0)"


def _of_models(kind: str) -> str:
    return scoped(TOKEN_USAGE_SUM, f'{TOKEN_TYPE}="{kind}"', f'{MODEL}=~"$model"')


def billed_by_model(kind: str) -> str:
    """Tokens that each model reports."""
    return f"{total(grown(billed(kind)), MODEL)} > 0"


def calls_by_model() -> str:
    """Calls of each model that report their input."""
    calls = scoped(TOKEN_USAGE_COUNT, f'{TOKEN_TYPE}="input"')
    return f"{total(grown(calls), MODEL)} > 0"
