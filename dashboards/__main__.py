"""`python -m dashboards`: write every generated file, or say which of them differ."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dashboards.alert_files import PROMETHEUS_FILE, alert_files
from dashboards.collector_rules import collector_files
from dashboards.kubernetes import kubernetes_files
from dashboards.panels import board_files

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).resolve().parent.parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program, and return its exit status."""
    options = _parser().parse_args(arguments)
    differing = [path for path, content in files().items() if _content(path) != content]
    if options.check:
        for path in differing:
            sys.stdout.write(f"differs: {path.relative_to(ROOT)}\n")
        if differing:
            sys.stderr.write("run `make dashboards` and commit what it writes\n")
        return int(bool(differing))
    for path in differing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files()[path], encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")
    return 0


def files() -> dict[Path, str]:
    """Return every generated file and what it must hold."""
    alerts = alert_files()
    return {**board_files(), **alerts, **kubernetes_files(alerts[PROMETHEUS_FILE]), **collector_files()}


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dashboards",
        description="Write the dashboards, the alert rules and the collector's rules for tokens. "
        "The files are committed, so that an operator needs no Python to use them.",
        epilog="examples:\n  python -m dashboards           write what has changed\n"
        "  python -m dashboards --check   change nothing; exit with 1 if a file differs from its definition",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="list what differs instead; exit with 1 if anything does")
    return parser


if __name__ == "__main__":
    sys.exit(main())
