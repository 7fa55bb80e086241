"""The hosts' programs, as npm has them: installed once, into a folder outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hosts_rig.hosts.host import Host

INSTALL_SECONDS = 900
CURE = "Run `python -m hosts_rig install`; it needs npm and its registry."


class HostMissingError(Exception):
    """
    A host cannot be installed here; the message says why.
    """


def folder() -> Path:
    """
    Where the programs are kept: OTEL_ERRCOMPACT_HOSTS, or a folder of the user's cache.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("OTEL_ERRCOMPACT_HOSTS") or cache / "otel-errcompact" / "hosts")


def find(host: Host) -> Path:
    """
    The program of a host, installed if it is not there in its version.

    Raises:
        HostMissingError: It cannot be installed.
    """
    prefix = folder() / f"{host.name}-{host.version}"
    program = prefix / "node_modules" / ".bin" / host.program
    if program.exists():
        return program
    npm = shutil.which("npm")
    if npm is None:
        raise HostMissingError(f"{host.name} is not installed, and there is no npm. {CURE}")
    prefix.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(prefix), "--no-audit", "--no-fund", "--no-update-notifier"]
    command += ["--loglevel", "error", f"{host.package}@{host.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise HostMissingError(f"npm has not installed {host.package} in {INSTALL_SECONDS} s. {CURE}") from late
    if done.returncode != 0 or not program.exists():
        raise HostMissingError(f"npm could not install {host.package}@{host.version}: {done.stderr.strip()[-500:]}")
    return program
