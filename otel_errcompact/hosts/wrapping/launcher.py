"""Write the program that `CLAUDE_CODE_SHELL_PREFIX` names."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

NAME: Final = "errcompact-shell"
MARK: Final = "# Written by errcompact: runs shell commands of an agent, and digests those that fail."
_MODULE: Final = "otel_errcompact/hosts/wrapping/shell_prefix.py"
_START: Final = (
    "import sys; sys.path.append(sys.argv.pop(1)); from otel_errcompact.hosts.wrapping.shell_prefix import main; main()"
)
_SCRIPT: Final = """\
#!/bin/sh
{mark}
python={python}
packages={packages}
if [ -x "$python" ] && [ -r "$packages/{module}" ]; then
    exec "$python" -I -S -c {start} "$packages" "$@"
fi
# errcompact is gone: the host's commands run all the same.
case $#:$1 in
    1:*/snapshot-zsh-*) exec zsh -c "$1" ;;
    1:*) exec bash -c "$1" ;;
    *) exec "$@" ;;
esac
"""


def write_launcher(folder: Path) -> Path:
    """
    Write the program to a folder, in place of an older one.

    It starts the interpreter without its packages, and runs the host's commands as they are once this library is no
    longer installed.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / NAME
    beside = folder / f".{NAME}.new"
    beside.write_text(make_launcher(), encoding="utf-8", errors="surrogateescape")
    beside.chmod(0o755)
    beside.replace(path)
    return path


def make_launcher(python: str = sys.executable) -> str:
    """Return the program's text."""
    packages = Path(__file__).resolve().parents[3]
    return _SCRIPT.format(
        mark=MARK,
        python=shlex.quote(python),
        packages=shlex.quote(str(packages)),
        module=_MODULE,
        start=shlex.quote(_START),
    )
