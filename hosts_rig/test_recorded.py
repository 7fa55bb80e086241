"""The recorded events, which the tests of the adapters read, are what the programs say today."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from hosts_rig.record import FOLDER, Recorded, record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hosts_rig.hosts.host import Host


@pytest.fixture(scope="module")
def fresh(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """One session of each host through all probes, with hooks that only record."""
    return record(host, tmp_path_factory.mktemp("rig") / "r")


def shapes(events: Iterable[tuple[str, Any]]) -> Counter[tuple[str, ...]]:
    """How often each kind of event came with which fields."""
    return Counter((event, *sorted(fields(value))) for event, value in events)


def fields(value: Any, path: str = "") -> set[str]:
    """The paths of all fields of a JSON value, whatever stands in them."""
    if isinstance(value, dict):
        return {found for key, item in value.items() for found in fields(item, f"{path}.{key}")}
    if isinstance(value, list):
        return {found for item in value for found in fields(item, f"{path}[]")} or {f"{path}[]"}
    return {path}


def test_hooks_are_handed_what_was_recorded(host: Host, fresh: Recorded) -> None:
    """The same events, as often, with the same fields; otherwise `python -m hosts_rig record` shows what changed."""
    files = sorted((FOLDER / host.name).glob("*.json"))
    recorded = [(file.stem.split("-", 1)[1], json.loads(file.read_text(encoding="utf-8"))) for file in files]
    assert files
    assert shapes(fresh.events) == shapes(recorded)


def test_without_our_hooks_the_model_reads_the_raw_output(host: Host, fresh: Recorded) -> None:
    """The stand-in hands its calls to the real tools, and their results come back to it."""
    model = fresh.session.model
    assert fresh.session.status == 0, fresh.session.errors
    read = [result.text for result in model.results()]
    assert "KeyError: 'lines'" in read[0]
    assert "3 orders, all paid" in read[7]
    assert not any("errcompact" in text for text in read)


def test_a_sub_agent_makes_calls_of_its_own(fresh: Recorded) -> None:
    """Its model is asked twice: for its call, and for what it says about the result."""
    assert len(fresh.session.model.delegated) == 2
    assert "KeyError: 'lines'" in json.dumps(fresh.session.model.delegated[1])
