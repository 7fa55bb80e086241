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
[ -x "$python" ] && [ -r {module} ] || python=
start() {{ exec "$python" -I -S -c {start} {packages} "$1" "$shell" "$2"; }}
if [ $# != 1 ]; then
    exec "$@"
    exit
fi
case $1 in */snapshot-zsh-*) shell=zsh ;; *) shell=bash ;; esac
for path in "$CLAUDE_CODE_SHELL" "$SHELL"; do
    case $path in */"$shell") [ ! -x "$path" ] || shell=$path ;; esac
done
# Hooks and servers are none of our business. Nor is anything where errcompact is gone.
case $python:$1 in
    /*"eval "*"pwd -P >|"*) ;;
    *) exec "$shell" -c "$1" ;;
esac
# Into the empty file of its host a command prints by itself, and needs us only if it fails. One that took long is
# reported in any case: the host may not have waited for it.
[ -f /dev/fd/1 ] && [ ! -s /dev/fd/1 ] && [ /dev/fd/1 -ef /dev/fd/2 ] || start '' "$1"
exec 9>&2 2>/dev/null
read -r began _ < /proc/uptime
(exec 2>&9 9>&-; exec "$shell" -c "$1")
status=$?
read -r ended _ < /proc/uptime
[ $status = 0 ] && [ "${{ended%.*}}" -le $((${{began%.*}} + 1)) ] && exit 0
exec 2>&9 9>&-
start $status "$1"
"""


def write_launcher(folder: Path) -> Path:
    """
    Write the program to a folder, in place of an older one.

    It starts the interpreter only where there is something to say, and runs the host's commands as they are once this
    library is no longer installed.
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
