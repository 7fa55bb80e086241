"""
The browser that the report's page is tried in, Debian's Chromium: `python -m e2e.browser` installs it where it can.
"""

from __future__ import annotations

import shutil
import sys
from typing import Final

from e2e.debian import install, is_root

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
CURE: Final = "install Chromium or Chrome (Debian: apt-get install chromium) and put it on the PATH"

FLAGS: Final = ("--disable-gpu", "--disable-dev-shm-usage")
"""For a machine without graphics and with little shared memory."""

PATIENCE_MS: Final = 120_000
"""How long a page may take for one step: it ends what hangs, and says nothing of how fast a page is."""


def browser() -> str:
    """Return the path of a browser; empty if there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), "")


def flags() -> list[str]:
    """Return the flags to start it with; root has no sandbox."""
    return [*FLAGS, *(["--no-sandbox"] if is_root() else [])]


def main() -> int:
    """Install the browser if it is missing and we may, and return the exit code."""
    return 0 if browser() else install("chromium", "fonts-dejavu-core", cure=f"e2e.browser: {CURE}")


if __name__ == "__main__":
    sys.exit(main())
