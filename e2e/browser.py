"""
The browser that the report's page is tried in, Debian's Chromium: `python -m e2e.browser` installs it where it can.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
CURE: Final = "install Chromium or Chrome (Debian: apt-get install chromium) and put it on the PATH"

FLAGS: Final = ("--disable-gpu", "--disable-dev-shm-usage")
"""For a machine without graphics and with little shared memory."""


def browser() -> str:
    """Return the path of a browser; empty if there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), "")


def flags() -> list[str]:
    """Return the flags to start it with; root has no sandbox."""
    return [*FLAGS, *(["--no-sandbox"] if _is_root() else [])]


def main() -> int:
    """Install the browser if it is missing and we may, and return the exit code."""
    if browser():
        return 0
    if not (_is_root() and shutil.which("apt-get")):
        print(f"e2e.browser: {CURE}", file=sys.stderr)
        return 1 if os.environ.get("CI") else 0
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (("update",), ("install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core")):
        done = subprocess.run(("apt-get", "-q", *step), env=environment, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"e2e.browser: apt-get {step[0]} failed; {CURE}", file=sys.stderr)
            return 1
    return 0


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


if __name__ == "__main__":
    sys.exit(main())
