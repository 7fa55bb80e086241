"""Alertmanager's file: environments do not mix in it, whichever way an alert takes."""

from __future__ import annotations

import pytest
import yaml

from tests.stack.compose import ROOT

TEXT = (ROOT / "collector-config" / "alertmanager.yaml").read_text(encoding="utf-8")
ENVIRONMENT = "deployment_environment_name"


def mixing(text: str) -> list[str]:
    """Every place that takes alerts of different environments for one thing, and says no reason above it."""
    document = yaml.safe_load(text)
    found = [f"a message by {labels}" for labels in _groupings(document["route"]) if ENVIRONMENT not in labels]
    rules = next(value for key, value in yaml.compose(text).value if key.value == "inhibit_rules").value
    for rule, node in zip(document["inhibit_rules"], rules, strict=True):
        above = text.splitlines()[node.start_mark.line - 1].lstrip()
        if ENVIRONMENT not in rule.get("equal", ()) and not above.startswith("# Any environment: "):
            found.append(f"{rule['source_matchers']} holds back all environments")
    return found


def _groupings(route: dict, above: tuple[str, ...] = ()) -> list[list[str]]:
    own = route.get("group_by", above)
    return [own, *(labels for inner in route.get("routes", ()) for labels in _groupings(inner, own))]


def test_environments_do_not_mix() -> None:
    """In no message, and by no alert that holds back another."""
    assert mixing(TEXT) == []


@pytest.mark.parametrize(
    ("shipped", "broken"),
    [
        pytest.param(f"service_name, {ENVIRONMENT}, service_namespace", "service_name", id="no environment"),
        pytest.param("  group_by:", "  # group_by:", id="no grouping"),
        pytest.param("      repeat_interval: 24h\n", "      group_by: [alertname]\n", id="a route of its own"),
        pytest.param(f"equal: [service_name, {ENVIRONMENT}]", "equal: [service_name]", id="equal services"),
        pytest.param(f"    equal: [{ENVIRONMENT}]\n", "", id="nothing equal"),
        pytest.param("# Any environment: ", "# ", id="no reason"),
    ],
)
def test_a_file_that_mixes_them_is_refused(shipped: str, broken: str) -> None:
    """Whichever place forgets it."""
    assert shipped in TEXT
    assert mixing(TEXT.replace(shipped, broken)) != []
