"""Write the program that `CLAUDE_CODE_SHELL_PREFIX` names."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

import otel_errcompact
import otel_errcompact_hosts

NAME: Final = "errcompact-shell"
MARK: Final = "# Written by errcompact: runs shell commands of an agent, and digests those that fail."
_START: Final = """\
import sys; sys.path += sys.argv.pop(1).split(":")
from otel_errcompact_hosts.wrapping.shell_prefix import main; main()"""
_SCRIPT: Final = """\
#!/bin/sh
{mark}
python={python}
if [ -x "$python" ] && [ -r {module} ]; then
    exec "$python" -I -S -c {start} {packages} "$@"
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
    # In a checkout the plugin lies in another folder.
    packages = dict.fromkeys(
        str(Path(file).resolve().parents[1]) for file in (otel_errcompact_hosts.__file__, otel_errcompact.__file__)
    )
    return _SCRIPT.format(
        mark=MARK,
        python=shlex.quote(python),
        packages=shlex.quote(":".join(packages)),
        module=shlex.quote(str(Path(__file__).with_name("shell_prefix.py"))),
        start=shlex.quote(_START),
    )
