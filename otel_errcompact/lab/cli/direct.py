"""
Run plain commands without the library of the command line.

Scripts call them most, and that library takes longer to load than a key to make. Whatever is not plain is left to it:
help, other spellings, mistakes. So there is one description of every option, in `app`, and a test compares both ways.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.cli.output import PROGRAM
from otel_errcompact.lab.cli.statuses import FINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.lab.cli.inputs import Input

_OPTIONS: Final = ("--jsonl", "--tool", "--exit-code")


def run_directly(arguments: Sequence[str]) -> int | None:
    """Run a plain command and return its status; None for others."""
    if list(arguments) == ["--version"]:
        import otel_errcompact

        sys.stdout.write(f"{PROGRAM} {otel_errcompact.__version__}\n")
        return FINE
    if list(arguments[:2]) == ["mcp", "--"] and len(arguments) > len(["mcp", "--"]):
        from otel_errcompact.lab.cli.mcp_actions import serve

        return serve(arguments[2:])
    source = _read_input(arguments[1:]) if arguments[:1] == ["key"] else None
    if source is None:
        return None
    from otel_errcompact.lab.cli.key import print_keys

    return print_keys(source)


def _read_input(arguments: Sequence[str]) -> Input | None:
    from otel_errcompact.lab.cli.inputs import Input

    files: list[Path] = []
    given: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        value = next(rest, "") if argument in _OPTIONS else ""
        if value and value[0] != "-" and argument not in given:
            given[argument] = value
        elif argument == "-" or not argument.startswith("-"):
            files.append(Path(argument))
        else:
            return None
    status = given.get("--exit-code", "0")
    if not (status.isascii() and status.isdecimal() and len(status) < 9):  # noqa: PLR2004 - no status is as long
        return None
    exit_code = int(status) if "--exit-code" in given else None
    return Input(files=files, field=given.get("--jsonl", ""), tool=given.get("--tool", ""), exit_code=exit_code)
