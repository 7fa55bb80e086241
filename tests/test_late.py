from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from otel_errcompact import audit, digest, late
from otel_errcompact.audit.life import LINES
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import TrajectoryOptions
from otel_errcompact.engine.events import Arrived

LENT = [
    pytest.param(module, home, name, id=f"{module.__name__} {name}")
    for module in (audit, digest, late)
    for home, names in module._MODULES.items()
    for name in names
]


@pytest.mark.parametrize(("module", "home", "name"), LENT)
def test_a_name_is_that_of_its_home(module: Any, home: str, name: str) -> None:
    """And is found without a function from the second use on."""
    assert getattr(module, name) is getattr(import_module(home, module.__name__), name)
    assert name in vars(module)
    assert name in module.__all__


@pytest.mark.parametrize("module", [audit, digest, late])
def test_another_name_is_unknown(module: Any) -> None:
    """As in any module."""
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'unknown'"):
        module.unknown  # noqa: B018


def test_each_event_with_a_line_is_written(tmp_path) -> None:
    """The events are listed twice, since what makes the lines is not loaded before the first."""
    file = TrajectoryFile(TrajectoryOptions(path=tmp_path / "raw.jsonl"))
    assert file.receivers().keys() == {*LINES, Arrived}
