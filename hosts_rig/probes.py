"""The script that each host goes through: every way in which its tools fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hosts_rig.model import DELEGATED
from hosts_rig.script import CLOSING, Turn, do

if TYPE_CHECKING:
    from hosts_rig.hosts.host import Host
    from hosts_rig.place import Place

ORDERS = "python3 orders.py"
STOCK = "python3 stock.py"
REPORT = "python3 report.py"
FINE = "python3 fine.py"


def probes(host: Host, place: Place) -> tuple[Turn, ...]:
    """
    A failing command, two at once, a long output, a pipe that hides the status, a missing file, an MCP tool, a success.

    At the end a sub-agent does what `delegated_probes` has.
    """
    return (
        do(host.shell(ORDERS)),
        do(host.shell(ORDERS), host.shell(STOCK)),
        do(host.shell(REPORT)),
        do(host.shell(f"{ORDERS} 2>&1 | tail -n 3")),
        do(host.read(str(place.work / "prices.csv"))),
        do(host.reserve(4711)),
        do(host.shell(FINE)),
        do(host.delegate(f"{DELEGATED} look why orders.py fails.")),
        *(do(call) for call in host.wait()),
        CLOSING,
    )


def delegated_probes(host: Host) -> tuple[Turn, ...]:
    """
    What a sub-agent does: the failing command that its parent has seen.
    """
    return (do(host.shell(ORDERS)), host.closing())
