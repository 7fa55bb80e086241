"""`errcompact stack`: the operator's side written to a folder, and nothing of the user's lost."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_lab.cli import stack

if TYPE_CHECKING:
    from packages.lab.tests.cli.conftest import Errcompact

ROOT = Path(__file__).parents[4]


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_without_a_command_the_help_is_shown(errcompact: Errcompact) -> None:
    """It says what the stack is made of."""
    outcome = errcompact("stack")
    assert outcome.code == 2
    said = outcome.out + outcome.err
    assert "export" in said
    assert "Prometheus" in said


def test_everything_that_compose_needs_is_written(errcompact: Errcompact, tmp_path: Path) -> None:
    """In the same places as in the checkout, each file named; folders are made."""
    folder = tmp_path / "deep" / "stack"
    outcome = errcompact("stack", "export", folder)
    assert (outcome.code, outcome.err) == (0, "")
    written = tree(folder)
    assert set(written) >= {
        ".env",
        "docker-compose.yml",
        "docker-compose.jaeger.yml",
        "docker-compose.receiver.yml",
        "collector-config/otelcol.yaml",
        "collector-config/prometheus.yaml",
        "collector-config/alertmanager.yaml",
        "collector-config/tempo.yaml",
        "collector-config/loki.yaml",
        "collector-config/jaeger.yaml",
        "collector-config/otelcol-jaeger.yaml",
        "collector-config/otelcol-receiver.yaml",
        "collector-config/grafana/jaeger.yaml",
        "collector-config/grafana/provisioning/datasources/errcompact.yaml",
        "collector-config/grafana/provisioning/dashboards/errcompact.yaml",
        "collector-config/grafana/provisioning/alerting/errcompact.yaml",
        "dashboards/RUNBOOK.md",
        "dashboards/generated/errcompact-inbox.json",
        "dashboards/generated/rules.yaml",
        "kubernetes/base/kustomization.yaml",
        "kubernetes/monitoring/kustomization.yaml",
    }
    assert outcome.out.splitlines()[: len(written)] == [f"{folder}/{name}" for name in sorted(written)]
    assert f"\n{len(written)} files written\n" in outcome.out


def test_the_demo_of_an_export_installs_this_version(tmp_path: Path) -> None:
    """That line is the only one that differs from the checkout, whose demo installs the checkout."""
    stack.export(tmp_path)
    different = [
        (name, ours, theirs)
        for name, content in tree(tmp_path).items()
        for ours, theirs in zip((ROOT / name).read_bytes().split(b"\n"), content.split(b"\n"), strict=True)
        if ours != theirs
    ]
    installed = f"ERRCOMPACT_PACKAGE=otel-errcompact[otlp,cli,serve]=={version('otel-errcompact')}".encode()
    sources = b"ERRCOMPACT_PACKAGE=/src[otlp] /src/packages/context /src/packages/hosts[serve] /src/packages/lab"
    assert different == [(".env", sources, installed)]


def test_the_next_step_is_taught(errcompact: Errcompact, tmp_path: Path) -> None:
    """Start, look, send."""
    out = errcompact("stack", "export", tmp_path).out
    assert f"  cd {tmp_path}\n  docker compose up -d\n" in out
    assert "http://localhost:3000" in out
    assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317" in out
    assert "docker compose --profile demo up -d" in out


def test_a_second_export_changes_nothing(errcompact: Errcompact, tmp_path: Path) -> None:
    """It says so."""
    errcompact("stack", "export", tmp_path)
    before = tree(tmp_path)
    (tmp_path / ".env").chmod(0o400)
    outcome = errcompact("stack", "export", tmp_path)
    assert outcome.out.splitlines()[0] == f"0 files written, {len(before)} are as they should be"
    assert tree(tmp_path) == before


def test_a_missing_file_is_put_back(errcompact: Errcompact, tmp_path: Path) -> None:
    """And nothing else is touched."""
    errcompact("stack", "export", tmp_path)
    before = tree(tmp_path)
    (tmp_path / "docker-compose.yml").unlink()
    outcome = errcompact("stack", "export", tmp_path)
    assert outcome.out.splitlines()[0] == f"{tmp_path}/docker-compose.yml"
    assert tree(tmp_path) == before


def test_changed_files_are_not_overwritten(errcompact: Errcompact, tmp_path: Path) -> None:
    """Nothing at all is written then; the files and the cure are named."""
    (tmp_path / "collector-config").mkdir()
    (tmp_path / ".env").write_bytes(b"GRAFANA_PORT=3001\n")
    (tmp_path / "collector-config" / "loki.yaml").write_bytes(b"mine\n")
    before = tree(tmp_path)
    with pytest.raises(ConfigurationError) as refused:
        errcompact("stack", "export", tmp_path)
    assert str(refused.value) == (
        f"{tmp_path} holds other versions of .env, collector-config/loki.yaml; nothing was written: "
        "move them away, or export to another folder"
    )
    assert tree(tmp_path) == before


def test_a_long_list_of_changed_files_is_cut(tmp_path: Path) -> None:
    """Ten of them are enough to know where one is."""
    stack.export(tmp_path)
    names = sorted(tree(tmp_path))
    for name in names:
        (tmp_path / name).write_bytes(b"mine\n")
    with pytest.raises(ConfigurationError, match=rf"{names[9]} and {len(names) - 10} more; nothing was written"):
        stack.export(tmp_path)


def test_a_folder_that_cannot_be_is_wrong_usage(errcompact: Errcompact, tmp_path: Path) -> None:
    """As a file of that name."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"file: .*; export to another folder"):
        errcompact("stack", "export", tmp_path / "file")
