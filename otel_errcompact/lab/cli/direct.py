"""
Run plain commands without the library of the command line.

Scripts call them most, and that library takes longer to load than a key to make. Whatever is not plain is left to it:
help, other spellings, mistakes. So there is one description of every option, in `app`, and a test compares both ways.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.lab.cli.output import FINE, PROGRAM

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
    if arguments[:1] == ["mcp"] and (server := _read_server(arguments[1:])) is not None:
        from otel_errcompact.lab.cli.mcp_actions import serve

        command, url, transport, headers = server
        return serve(command, url=url, transport=transport, headers=headers)
    if list(arguments) == ["raw", "--mcp"]:
        from otel_errcompact.lab.cli.raw import serve_raw

        return serve_raw()
    if len(arguments) == 2 and arguments[0] == "raw" and not arguments[1].startswith("-"):  # noqa: PLR2004 - and its name
        from otel_errcompact.lab.cli.raw import print_raw

        return print_raw(arguments[1])
    source = _read_input(arguments[1:]) if arguments[:1] == ["key"] else None
    if source is None:
        return None
    from otel_errcompact.lab.cli.key import print_keys

    return print_keys(source)


def _read_server(arguments: Sequence[str]) -> tuple[Sequence[str], str, str, Sequence[str]] | None:
    place = arguments.index("--") if "--" in arguments else len(arguments)
    options, command = arguments[:place], arguments[place + 1 :]
    names, values = options[::2], options[1::2]
    single = [name for name in names if name != "--header"]
    is_plain = not set(names) - {"--url", "--transport", "--header"} and len(single) == len(set(single))
    if not is_plain or len(names) != len(values) or not all(values) or not (command or "--url" in names):
        return None
    given = dict(zip(names, values, strict=True))
    headers = [value for name, value in zip(names, values, strict=True) if name == "--header"]
    return (command, given.get("--url", ""), given.get("--transport", ""), headers)


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
