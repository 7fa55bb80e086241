"""Recorded events of a host's hooks, as files that tests read: small, and with nothing of the machine in them."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosts_rig.place import ROOT, make
from hosts_rig.probes import delegated_probes, probes
from hosts_rig.session import run, serving

if TYPE_CHECKING:
    from hosts_rig.hosts.host import Host
    from hosts_rig.place import Place
    from hosts_rig.session import Session

FOLDER = ROOT / "packages" / "hosts" / "tests" / "recorded"
LONGEST = 12_000
"""Characters of a recorded text. The middle of a longer one is left out without a mark: marks are the host's own."""

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
AGENT_ID = re.compile(r"\ba[0-9a-f]{16}\b")
"""Of Claude Code; there is one sub-agent in a recorded session."""

ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d([:-]\d\d)?(\.\d+)?Z?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """
    What a host has handed its hooks in one session.
    """

    events: list[tuple[str, Any]]
    session: Session
    place: Place


def record(host: Host, base: Path) -> Recorded:
    """
    Run a host through all probes, with hooks that keep their events.

    Raises:
        HostMissingError: The host cannot be installed.
    """
    place = make(base)
    kept = base / "events"
    kept.mkdir()
    with serving(probes(host, place), delegated_probes(host)) as model:
        host.prepare(place, model.url)
        host.record(place, kept)
        session = run(host, place, model)
    events = [
        (file.stem.split("-", 2 if host.name != "opencode" else 1)[-1], json.loads(file.read_text(encoding="utf-8")))
        for file in sorted(kept.glob("*.json"))
    ]
    return Recorded(events=events, session=session, place=place)


def write(host: Host) -> list[Path]:
    """
    Record a host and write its events, in place of those that were there.
    """
    with tempfile.TemporaryDirectory() as base:
        recorded = record(host, Path(base).resolve() / "rig")
    target = FOLDER / host.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    neutral = Neutral(recorded.place)
    written = []
    for number, (event, value) in enumerate(recorded.events, start=1):
        file = target / f"{number:02}-{event}.json"
        text = json.dumps(neutral.value(value), indent=2, ensure_ascii=False) + "\n"
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


class Neutral:
    """
    Events without what differs from machine to machine and from run to run.
    """

    def __init__(self, place: Place) -> None:
        self._paths = (
            (str(place.home), "/home/ann"),
            (str(place.base), "/tmp/ann"),
            # As it stands where a path begins at the root.
            (str(place.home).removeprefix("/"), "home/ann"),
            # Folders that a host names after the project.
            (str(place.home).replace("/", "-"), "-home-ann"),
            (sys.executable, "/usr/bin/python3"),
            (sys.base_prefix, "/usr"),
            (str(ROOT / "hosts_rig"), "/opt/shop"),
        )
        self._ids: dict[str, str] = {}

    def value(self, value: Any) -> Any:
        """
        A JSON value, made neutral.
        """
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        for path, name in self._paths:
            text = text.replace(path, name)
        text = ISO_TIME.sub("2026-11-22T10:00:00.000Z", UUID.sub(self._number, text))
        text = AGENT_ID.sub("a6096a332bafa8579", text)
        return text if len(text) <= LONGEST else text[: LONGEST // 2] + text[-LONGEST // 2 :]

    def _number(self, found: re.Match[str]) -> str:
        return self._ids.setdefault(found[0], f"00000000-0000-4000-8000-{len(self._ids) + 1:012}")
