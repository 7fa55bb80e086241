"""Programs from Debian's packages, installed where they are missing and the user may install them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def install(*packages: str, cure: str) -> int:
    """
    Install packages, and return the exit code.

    Without the right to install anything it is a failure in CI alone, where nothing may be left out.

    Args:
        packages: Names of Debian's packages.
        cure: What a user has to do instead; written to standard error where nothing can be installed.
    """
    if not (is_root() and shutil.which("apt-get")):
        print(cure, file=sys.stderr)
        return 1 if os.environ.get("CI") else 0
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (("update",), ("install", "--yes", "--no-install-recommends", *packages)):
        done = subprocess.run(("apt-get", "-q", *step), env=environment, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"apt-get {step[0]} failed; {cure}", file=sys.stderr)
            return 1
    return 0


def is_root() -> bool:
    """Return whether the user may install packages."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
