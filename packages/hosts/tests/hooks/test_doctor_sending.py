"""The doctor sends what the host sends: no more variables, and no other headers."""

from __future__ import annotations

import pytest

from otel_errcompact_hosts.hooks.doctor.sending import fill_headers, hand_over

ENVIRON = {"OTEL_ERRCOMPACT_X": "1", "SHOP_TOKEN": "4711", "SHOP_OTHER": "2"}


@pytest.mark.parametrize("host", ["claude-code", "copilot"])
def test_hosts_that_keep_variables_of_telemetry_hand_over_none(host: str) -> None:
    """Claude Code and Copilot CLI take every variable away that begins with OTEL_."""
    assert hand_over(host, ENVIRON) == {"SHOP_TOKEN": "4711", "SHOP_OTHER": "2"}


def test_other_hosts_hand_over_all() -> None:
    """As Codex does."""
    assert hand_over("codex", ENVIRON) == ENVIRON


@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ("Bearer $SHOP_TOKEN", "Bearer 4711"),
        ("Bearer ${SHOP_TOKEN}", "Bearer 4711"),
        ("Bearer $SHOP_OTHER", "Bearer "),
        ("Bearer $SHOP_GONE", "Bearer "),
        ("plain", "plain"),
    ],
)
def test_headers_take_the_variables_that_their_hook_allows(header: str, sent: str) -> None:
    """Others become empty."""
    handler = {"headers": {"Authorization": header}, "allowedEnvVars": ["SHOP_TOKEN", "SHOP_GONE"]}
    assert fill_headers(handler, ENVIRON) == {"Authorization": sent}
