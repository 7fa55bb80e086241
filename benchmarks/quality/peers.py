"""Other tools on the same errors in the same run, in an environment of their own that the first run makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.quality.data import Data

REQUIREMENTS = ("drain3==0.9.11", "bugdna==1.2.0", "headroom-ai==0.42.0", "leantokens==0.2.0", "sentry-sdk==2.75.0")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-errcompact" / "peers"
RUNNER = Path(__file__).with_name("peer_runner.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """
    What the other tools made of the errors.
    """

    keys: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of each tool, the key of every raw error."""

    shown: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Of each tool, what it shows of each kind's variants."""

    costs: dict[str, float] = field(default_factory=dict)
    """Microseconds by what is measured."""

    versions: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """Tools that could not be run, with the reason."""


def run(data: Data, environment: Path = CACHE) -> Peers:
    """Let all peers work on the data; what cannot be installed or run is said, and stops nothing."""
    python = environment / "bin" / "python"
    try:
        _make(environment, python)
        given = {"texts": data.texts, "kinds": {kind.name: kind.variants for kind in data.kinds}}
        done = subprocess.run(
            [python, "-W", "ignore", RUNNER],
            input=json.dumps(given),
            env={**os.environ, "HEADROOM_TELEMETRY": "off", "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=900,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or ""
        return Peers(failed={"all peers": f"{error}\n{said[-2_000:]}"})
    found = json.loads(done.stdout)
    keys = {name: dict(zip(data.texts, of, strict=True)) for name, of in found.pop("keys").items()}
    return Peers(keys=keys, **found)


def _make(environment: Path, python: Path) -> None:
    """Make the environment unless it holds just these versions already."""
    made = environment / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if made.is_file() and made.read_text(encoding="utf-8") == wanted:
        return
    print(f"Installing {', '.join(REQUIREMENTS)} into {environment} ...", file=sys.stderr)
    venv.create(environment, with_pip=True, clear=True)
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS]
    subprocess.run(install, capture_output=True, text=True, timeout=900, check=True)
    made.write_text(wanted, encoding="utf-8")
