"""One session of a real host against the stand-in for its model."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hosts_rig.install import find
from hosts_rig.model import StandInModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hosts_rig.hosts.host import Host
    from hosts_rig.place import Place
    from hosts_rig.script import Turn

PROMPT = "Look why the shop's programs fail."
SESSION_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Session:
    """
    What has come of a session.
    """

    status: int
    output: str
    errors: str
    model: StandInModel


@contextmanager
def serving(script: Sequence[Turn], delegated: Sequence[Turn] = ()) -> Iterator[StandInModel]:
    """
    A stand-in that listens until the end of the block.
    """
    model = StandInModel(script, delegated)
    try:
        yield model
    finally:
        model.close()


def run(
    host: Host, place: Place, model: StandInModel, prompt: str = PROMPT, environ: Mapping[str, str] | None = None
) -> Session:
    """
    Run a host in its place until it ends by itself.

    The place must be prepared: `host.prepare(place, model.url)`.

    Raises:
        HostMissingError: The host cannot be installed.
        subprocess.TimeoutExpired: It does not end.
    """
    done = subprocess.run(
        [str(find(host)), *host.command(prompt)],
        cwd=place.work,
        env=place.environ | host.environ(model.url) | dict(environ or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SESSION_SECONDS,
        check=False,
    )
    return Session(done.returncode, done.stdout, done.stderr, model)
