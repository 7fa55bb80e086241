"""An empty home and a folder of work, made for one session of a host: nothing of the user's own is read or written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).resolve().parents[1]
LINES: Final = 1700
"""How many lines `report.py` prints before it fails: about 130 kB."""

FILES: Final = {
    "orders.py": """\
def total(order):
    return sum(line["price"] for line in order["lines"])


print("reading orders", flush=True)
print(total({"id": 4711}))
""",
    "stock.py": """\
import json

json.loads('{"warehouse": north}')
""",
    "report.py": f"""\
import sys

for line in range({LINES}):
    print(f"row {{line:05}}: order {{line * 7:06}} of customer {{line % 97:03}} checked, nothing to do for it, next")
sys.stdout.flush()
print("report failed: column 'region' is missing in customers.csv", file=sys.stderr)
sys.exit(3)
""",
    "export.py": """\
import sys

for line in range(60_000):
    print(f"row {line:06} of the export was checked, and there was nothing to do for it, so next please")
sys.stdout.flush()
print("export failed: column 'region' is missing in customers.csv", file=sys.stderr)
sys.exit(3)
""",
    "fine.py": 'print("3 orders, all paid")\n',
    "sync.py": """\
import traceback

try:
    {}["region"]
except KeyError:
    traceback.print_exc()
for line in range(300):
    print(f"order {line:03} is paid")
""",
    "bytes.py": "import sys\n\nsys.stdout.buffer.write(bytes(range(256)) * 4)\n",
    "latin.py": "import sys\n\nsys.stdout.buffer.write('caf\u00e9: 3 orders\\n'.encode('latin-1') * 9)\n",
}
"""Programs of the folder of work: each fails in a way of its own, but for the last four."""

END_SECONDS: Final = 60
POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class Place:
    """
    Where one session happens.
    """

    base: Path

    @property
    def home(self) -> Path:
        """The home folder."""
        return self.base / "home"

    @property
    def work(self) -> Path:
        """The project that the agent works on."""
        return self.home / "shop"

    @property
    def environ(self) -> dict[str, str]:
        """The variables of every program in it: none of this process but where programs are."""
        node = shutil.which("node")
        folders = [str(Path(sys.executable).parent), *([str(Path(node).parent)] if node else [])]
        return {
            "PATH": os.pathsep.join([*folders, "/usr/local/bin", "/usr/bin", "/bin"]),
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.base / "run"),
            "TMPDIR": str(self.base / "tmp"),
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
            "CI": "true",
            # What is read is tested here; that the shell prefix gives up in time is tested where nothing else runs.
            "OTEL_ERRCOMPACT_EXEC_ANSWER_SECONDS": "60",
            "OTEL_ERRCOMPACT_EXEC_HOLD_SECONDS": "60",
        }

    def write(self, path: str, value: Mapping[str, Any] | str) -> Path:
        """
        Write a file below the home, a mapping as JSON.
        """
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(value if isinstance(value, str) else json.dumps(value, indent=2) + "\n", encoding="utf-8")
        return target


def make(base: Path) -> Place:
    """
    Make an empty home with the folder of work in it.
    """
    place = Place(base)
    for folder in (place.work, base / "tmp"):
        folder.mkdir(parents=True)
    (base / "run").mkdir(mode=0o700)
    for name, text in FILES.items():
        (place.work / name).write_text(text, encoding="utf-8")
    return place


def end_programs(place: Place) -> None:
    """
    End whatever still runs in a place, as a service that a hook has started; where there is no /proc, nothing.

    Raises:
        TimeoutError: Something does not end.
    """
    deadline = time.monotonic() + END_SECONDS
    while found := _find_programs(place):
        if time.monotonic() > deadline:
            raise TimeoutError(f"these processes of {place.base} do not end: {found}")
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _find_programs(place: Place) -> list[int]:
    home = f"XDG_RUNTIME_DIR={place.environ['XDG_RUNTIME_DIR']}".encode()
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if home in _read_environ(folder)]


def _read_environ(folder: Path) -> list[bytes]:
    try:
        return (folder / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
