"""What docs/redaction.md adds to the shipped collector configuration, run by the real collector."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, Final

import pytest

from e2e.sink import Sink, attributes
from e2e.test_collector import CONFIGURATION, ERROR, OTELCOL, Collector, arrived, exception, span, traces
from tests.docs.pages import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAST_SUSPICION: Final = 'or Index(cache["texts"], "[REDACTED:") >= 0\n'
RULES: Final = "# Secrets that their issuer has marked. Only short marks need the start of a word in front of them.\n"
TICKET: Final = "401, ticket ACME-71Q9-88ZZ"

pytestmark = pytest.mark.skipif(not OTELCOL, reason="no collector: set OTELCOL to what builder.yaml builds")


def extended(*, suspicious: bool) -> str:
    """The shipped configuration with the rule of the page, and with its condition if asked for."""
    condition, rule = (block.code for block in BLOCKS if block.page == "docs/redaction.md" and block.language == "yaml")
    text = (CONFIGURATION / "otelcol.yaml").read_text(encoding="utf-8")
    assert text.count(LAST_SUSPICION) == 1
    assert text.count(RULES) == 1
    if suspicious:
        text = text.replace(LAST_SUSPICION, LAST_SUSPICION + indent(condition, " " * 12))
    return text.replace(RULES, RULES + indent(rule, " " * 10))


@pytest.fixture(params=[True, False], ids=["both additions", "the rule alone"])
def extended_collector(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Collector, bool]]:
    """A collector with the additions, or with one of them."""
    path = tmp_path / "otelcol.yaml"
    path.write_text(extended(suspicious=request.param), encoding="utf-8")
    found = Collector(folder=tmp_path, sink=Sink(), configuration=str(path))
    try:
        found.start()
        yield found, request.param
    finally:
        found.stop()
        found.sink.close()


def test_a_pattern_of_ones_own_needs_both_additions(extended_collector: tuple[Collector, bool]) -> None:
    """With both the ticket goes; a rule whose texts are never suspicious takes out nothing."""
    collector, both = extended_collector
    events = [exception(exception__type="E", exception__message=TICKET)]
    sent = span(status=ERROR, message=TICKET, events=events)

    assert collector.send(traces(sent)) == 200
    found = arrived(collector.sink, sent)

    after = "401, ticket [REDACTED:ticket]" if both else TICKET
    assert found.status.message == after
    assert attributes(found.events[0].attributes)["exception.message"] == after
