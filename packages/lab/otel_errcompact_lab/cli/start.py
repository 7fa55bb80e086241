"""
The program `errcompact`.

`errcompact exec` stands before other programs, and agents pay its start for each command: it is run before anything
else is imported.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

EXEC: Final = "exec"
_OPTIONS: Final = ("--run", "--tool", "--hold")
_RAW: Final = "--raw"


def main() -> None:
    """
    Run the command line.

    Raises:
        SystemExit: With the exit status.
    """
    if sys.argv[1:2] == [EXEC]:
        _run_directly(sys.argv[2:])
    from otel_errcompact_lab.cli.main import main as run

    run()


def _run_directly(arguments: Sequence[str]) -> None:
    # Whatever is not plain is left to the command line: help, other spellings, mistakes.
    given: dict[str, str] = {}
    position = 0
    while arguments[position : position + 1] and arguments[position].startswith("-") and arguments[position] != "--":
        name, equals, value = arguments[position].partition("=")
        position += 1
        if (name not in _OPTIONS and name + equals != _RAW) or name in given:
            return
        if name == _RAW:
            value = name
        elif not equals:
            value = next(iter(arguments[position : position + 1]), "")
            position += 1
        given[name] = value
    words = arguments[position + 1 :] if arguments[position : position + 1] == ["--"] else arguments[position:]
    hold = _read_seconds(given.get("--hold"))
    if not words or hold is False or not all(given.values()):
        return
    from otel_errcompact_hosts.wrapping.executing import run_command

    run_command(words, run_id=given.get("--run", ""), tool=given.get("--tool", ""), hold_s=hold, raw=_RAW in given)


def _read_seconds(text: str | None) -> float | bool | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        return False
    return seconds if 0 <= seconds < float("inf") else False


if __name__ == "__main__":
    main()
