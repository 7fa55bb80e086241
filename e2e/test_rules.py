"""Rules and configurations, judged by the very programs that read them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RULES = ROOT / "dashboards" / "generated" / "rules.yaml"
CASES = sorted((ROOT / "dashboards" / "rules_test").glob("*.yaml"))
PROMETHEUS = ROOT / "collector-config" / "prometheus.yaml"
ALERTMANAGER = ROOT / "collector-config" / "alertmanager.yaml"


def _program(name: str) -> str:
    """Where a program is: in the folder `ERRCOMPACT_E2E_BIN` names, else on the path."""
    found = shutil.which(name, path=os.environ.get("ERRCOMPACT_E2E_BIN")) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not there; set ERRCOMPACT_E2E_BIN to the folder it was built into")
    return found


def _run(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([_program(name), *map(str, arguments)], capture_output=True, text=True, check=False)


def _said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def test_rules_are_valid() -> None:
    """Prometheus loads the rule file, with its linter at its strictest."""
    done = _run("promtool", "check", "rules", "--lint=all", "--lint-fatal", RULES)
    assert done.returncode == 0, _said(done)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_alerts_fire_when_they_should_and_never_else(case: Path) -> None:
    """Each case holds times at which an alert fires, with its words, and times at which nothing may."""
    done = _run("promtool", "test", "rules", case)
    assert done.returncode == 0, _said(done)


def test_prometheus_takes_its_configuration() -> None:
    """The configuration is valid, and the rule file it names is there."""
    done = _run("promtool", "check", "config", "--lint=all", "--lint-fatal", PROMETHEUS)
    assert done.returncode == 0, _said(done)
    assert "1 rule files found" in _said(done)


def test_alertmanager_takes_its_configuration() -> None:
    """The configuration is valid."""
    done = _run("amtool", "check-config", ALERTMANAGER)
    assert done.returncode == 0, _said(done)


every_severity = pytest.mark.parametrize("severity", ["critical", "warning", "info"])


@every_severity
@pytest.mark.parametrize("environment", ["prod", "staging"])
def test_every_severity_reaches_the_operators(severity: str, environment: str) -> None:
    """No alert ends nowhere, whatever environment it is of."""
    assert _receivers(ALERTMANAGER, severity, deployment_environment_name=environment) == "operators"


@every_severity
def test_the_sample_route_takes_what_its_owner_owns(severity: str, tmp_path: Path) -> None:
    """Once it is no comment, and its receiver is there; what others own stays with the operators."""
    text = ALERTMANAGER.read_text(encoding="utf-8")
    (sample,) = re.findall(r"(?m)^    # - matchers.*\n(?:^    #   .*\n)+", text)
    file = tmp_path / "alertmanager.yaml"
    routed = text.replace(sample, sample.replace("    # ", "    "))
    file.write_text(routed.replace("  - name: operators", "  - name: payments\n  - name: operators"), encoding="utf-8")
    assert _receivers(file, severity, service_namespace="payments") == "payments"
    assert _receivers(file, severity, service_namespace="search") == "operators"
    assert _receivers(file, severity) == "operators"


def _receivers(file: Path, severity: str, **labels: str) -> str:
    own = {"alertname": "AgentErrorRecurring", "service_name": "shop", "severity": severity, **labels}
    pairs = [f"{name}={value}" for name, value in own.items()]
    done = _run("amtool", "config", "routes", "test", f"--config.file={file}", *pairs)
    assert done.returncode == 0, _said(done)
    return done.stdout.strip()
