"""
Sessions by hand: `python -m hosts_rig HOST` prints what the model read, `... record HOST` writes the recorded events.

`python -m hosts_rig install` installs the programs of all hosts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from hosts_rig.hosts import HOSTS
from hosts_rig.install import HostMissingError, find
from hosts_rig.record import record, write

SHOWN = 2_000


def show(name: str) -> int:
    """
    Run a host through the probes, and print what its model and its hooks read.
    """
    with tempfile.TemporaryDirectory() as base:
        recorded = record(HOSTS[name], Path(base).resolve() / "rig")
    model = recorded.session.model
    for result in model.results():
        print(f"--- {result.call_id}, {len(result.text)} characters\n{result.text[:SHOWN]}")
    print(f"--- hooks: {' '.join(event for event, _ in recorded.events)}")
    print(
        f"--- requests: {len(model.requests)} of the agent, {len(model.paths)} in all; exit {recorded.session.status}"
    )
    if not model.requests:
        print(recorded.session.output[-SHOWN:], recorded.session.errors[-SHOWN:], sep="\n")
    return 0 if model.requests else 1


def main() -> int:
    """
    Do what the command line asks for; the exit status.
    """
    parser = argparse.ArgumentParser(prog="python -m hosts_rig", description=__doc__)
    parser.add_argument(
        "action", choices=["install", "record", *HOSTS], metavar="ACTION", help="install, record, or a host"
    )
    parser.add_argument(
        "hosts", nargs="*", choices=[*HOSTS, []], metavar="HOST", help=f"by default all: {', '.join(HOSTS)}"
    )
    arguments = parser.parse_args()
    try:
        if arguments.action in HOSTS:
            return show(arguments.action)
        for name in arguments.hosts or HOSTS:
            if arguments.action == "install":
                print(find(HOSTS[name]))
            else:
                print(f"{name}: {len(write(HOSTS[name]))} events")
    except HostMissingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
