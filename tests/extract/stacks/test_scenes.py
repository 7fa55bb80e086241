"""Outputs of failing programs of five languages, as recorded, and the lines that are told of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError

SCENES = sorted(Path(__file__).with_name("scenes").glob("*.txt"))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.stem)
def test_scene(scene: Path) -> None:
    """The head, and the lines below it, are those of the file beside the record."""
    facts = classify(RawError(text=scene.read_text(encoding="utf-8"))).facts
    at = f" at {facts.location}" if facts.location else ""
    told = (f"[{facts.type}]{at}: {facts.cause}", *facts.details)
    assert told == tuple(scene.with_suffix(".expected").read_text(encoding="utf-8").splitlines())
