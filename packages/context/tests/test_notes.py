"""What a compaction says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from otel_errcompact_context.notes import LAYERS
from otel_errcompact_context.window.layers import all_layers
from packages.context.tests.compactions import COMPACTION, RESULTS

if TYPE_CHECKING:
    from otel_errcompact_context.notes import LayerName


def test_each_name_has_its_layer() -> None:
    """In a module of that name; all of them in the order in which they run."""
    assert tuple(layer.name for layer in all_layers()) == LAYERS


@pytest.mark.parametrize(
    ("layer", "forgets"),
    [
        pytest.param("errors", False, id="a digest says what matters of an error"),
        pytest.param("results", False, id="a preview stays, and the newest are no digests"),
        pytest.param("snip", True, id="whole messages"),
        pytest.param("micro", True, id="old results, digests among them"),
        pytest.param("summary", True, id="a summary quotes no digest"),
        pytest.param("reactive", True, id="all but the newest turns"),
    ],
)
def test_it_says_whether_the_agent_has_lost_sight_of_something(layer: LayerName, *, forgets: bool) -> None:
    """Where a layer has cut, and not where it has only run."""
    note = replace(RESULTS, layer=layer, forgets=all_layers()[LAYERS.index(layer)].forgets)
    assert replace(COMPACTION, notes=(note,)).forgets is forgets
    assert not replace(COMPACTION, notes=(replace(note, cuts=()),)).forgets
