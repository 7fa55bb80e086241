"""Write the light index of tools from their objects. `make docs` calls it, a test compares."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from docs.literals_of_patterns import find_literals
from otel_errcompact.compactor.hints import HINTS
from otel_errcompact.extract.command import Checker, Command
from otel_errcompact.extract.format import Format, Hint, Listing, Tool, split_names
from otel_errcompact.extract.lexicon import Sense, forms_of
from otel_errcompact.tools import ORDER, WITHOUT_FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE: Final = Path(__file__).parents[1] / "otel_errcompact" / "extract" / "index.py"

_HEAD: Final = '''\
"""What is known of the built-in tools before they are loaded. Made from `tools/*.py` by `make docs`."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.command import Checker, Command
from otel_errcompact.extract.format import Hint, Listing

'''


def index() -> str:
    """Return the module: a row for each format, for the commands of each tool, and for each sense of words."""
    formats = (_code_of(_row(name)) for name in ORDER)
    commands = (", ".join(map(_code_of, load(name).commands)) for name in (*ORDER, *WITHOUT_FORMAT))
    of_formats = _write("INDEX: Final[tuple[Listing, ...]]", formats)
    forms = {sense.name: forms_of(sense) for sense in Sense if sense is not Sense.FAILED}
    hints = (*HINTS, *(hint for name in ORDER for hint in load(name).hints))  # type: ignore[union-attr]
    forms["hints"] = tuple(sign for hint in hints for sign in hint.signs)
    of_words = (f"{sense!r}: {_code_of(_clues_of(each))}" for sense, each in forms.items())
    return (
        f"{_HEAD}{of_formats}\n{_write('COMMANDS: Final[tuple[Command, ...]]', filter(None, commands))}"
        f"\n{_write('CLUES: Final[dict[str, tuple[str, ...]]]', of_words, '{}')}"
    )


def load(name: str) -> Format | Tool:
    """Return the object of a tool."""
    module = import_module(f"otel_errcompact.tools.{name}")
    found: Format | Tool = module.TOOL if name in WITHOUT_FORMAT else module.FORMAT
    return found


def _row(name: str) -> Listing:
    found = load(name)
    known = Listing(**{field.name: getattr(found, field.name) for field in fields(Listing)})
    clues, of_passes = _clues_of((*known.closings, *known.stacks)), _clues_of(known.passes)
    return replace(known, programs=_printing()[name], clues=clues, clues_of_passes=of_passes)


@cache
def _printing() -> dict[str, tuple[str, ...]]:
    """Return the programs of each format: its own, and those of other tools that print it too."""
    found: dict[str, dict[str, None]] = {name: dict.fromkeys(load(name).programs) for name in ORDER}  # type: ignore[union-attr]
    for name in (*ORDER, *WITHOUT_FORMAT):
        for command in load(name).commands:
            for form in (command.prints or "").split():
                found[form].update(dict.fromkeys(split_names(command.names)))
    return {name: tuple(row for row in programs if not _is_known(row, programs)) for name, programs in found.items()}


def _is_known(program: str, programs: Iterable[str]) -> bool:
    return any(program.startswith(f"{name} ") for name in programs)


def _write(name: str, rows: Iterable[str], brackets: str = "()") -> str:
    return f"{name} = {brackets[0]}\n" + "".join(f"    {row},\n" for row in rows) + f"{brackets[1]}\n"


def _code_of(value: Any) -> str:
    # What is as it is by default is left out.
    if isinstance(value, (Command, Checker, Hint)):
        default = value._field_defaults
        stated = {name: each for name, each in value._asdict().items() if name not in default or default[name] != each}
    elif isinstance(value, Listing):
        stated = {field.name: getattr(value, field.name) for field in fields(value) if _is_stated(value, field)}
    elif isinstance(value, tuple):
        return f"({', '.join(map(_code_of, value))}{',' if len(value) == 1 else ''})"
    else:
        return repr(value)
    return f"{type(value).__name__}({', '.join(f'{name}={_code_of(each)}' for name, each in stated.items())})"


def _is_stated(value: Listing, field: Any) -> bool:
    return field.default is MISSING or getattr(value, field.name) != field.default


def _clues_of(patterns: tuple[str, ...]) -> tuple[str, ...]:
    literals = [find_literals(pattern) for pattern in patterns]
    found = dict.fromkeys(literal for each in literals for literal in each) if all(literals) else {}
    return tuple(each for each in found if not any(other in each and other != each for other in found))
