"""Command lines as the programs that they run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.detector.operation import programs
from otel_errcompact.detector.operation.fingerprint import parse_arguments
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_errcompact.extract.command import Command

MAX_COMMAND: Final = 4_096
"""Characters of a command line that are read."""

_MAX_SIMPLE: Final = 128
_MAX_WORDS: Final = 64
_MAX_NESTING: Final = 3
_MAX_FOLDERS: Final = 32
COMMAND_ARGUMENTS: Final = ("command", "cmd", "commands")
NAMES_COMMAND: Final = lazy_pattern(f'"(?:{"|".join(COMMAND_ARGUMENTS)})"')

SHELL_TOOLS: Final = frozenset(
    {"bash", "sh", "zsh", "shell", "terminal", "exec", "exec_command", "execute_bash", "run"}
)

_TOKEN: Final = lazy_pattern(
    r"(?P<redirect>[0-9]?[<>]+&?-?)"
    r"|(?P<word>(?:\$(?:\([^()\n]*\))?|[^\s'\"\\|&;<>()$]+|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.)+)"
    r"|(?P<end>[|&;()\n])",
    re.DOTALL,
)
_QUOTED: Final = lazy_pattern(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_COMMENT: Final = lazy_pattern(r"^[ \t]*#.*$", re.MULTILINE)
_HERE_DOCUMENT: Final = lazy_pattern(r"<<-?[ \t]*['\"]?(\w+)['\"]?")
_ASSIGNMENT: Final = lazy_pattern(r"[A-Za-z_]\w*=")
_SETS: Final = lazy_pattern(r"\s*set (?P<options>-[a-z]+(?: -[a-z]+)*)(?P<pipefail> pipefail)?\b")
"""How a line begins that ends with the status of the first program that fails: of a pipe, or of all."""

_SUBCOMMAND: Final = lazy_pattern(r"[a-z][\w:.-]*\Z")
_PYTHON: Final = lazy_pattern(r"(?:python|pypy)[0-9.]*\Z")


class Invocation(NamedTuple):
    """A program that a command line runs."""

    program: str
    """The program with its subcommand."""
    words: list[str] = []  # noqa: RUF012 - never changed
    """The words that follow."""
    folders: tuple[str, ...] = ()
    """The folders that the line changed to before, in order."""
    piped: bool = False
    """Whether it reads what another program writes."""
    hidden: bool = False
    """Whether the line ends with the status of another program: that of a pipe's last one, or of what follows."""


class _SimpleCommand(NamedTuple):
    words: list[str]
    before: str
    """What joins it to the command in front: `|`, `&&`, `;`."""
    behind: str
    """What joins it to the one behind; empty for the last one."""


def runs_commands(tool: str, arguments: str) -> bool:
    """Tell at once whether a call may run a program."""
    return tool.lower() in SHELL_TOOLS or ('"c' in arguments and NAMES_COMMAND.search(arguments) is not None)


def invocations_of(tool: str, arguments: str | Mapping[str, object] | None) -> Iterator[Invocation]:
    """Return the programs that a call runs, with their words, in order."""
    command = command_of(tool, arguments)
    return invocations_in(command) if command else iter(())


def last_command(tool: str, arguments: str | Mapping[str, object] | None) -> tuple[str, ...]:
    """
    Return the words of a call's last command; empty without commands.

    The exit status of that command is that of the call.
    """
    command = command_of(tool, arguments)
    if not isinstance(command, str):
        return tuple(_unwrap_command([word for word in command[:_MAX_WORDS] if isinstance(word, str)]))
    words: list[str] = []
    for found in _split_commands(_cut_here_documents(_COMMENT.sub("", command))):
        words = found.words or words
    words = _unwrap_command(words)
    if not words or programs.row_of(words[0]) is programs.UNKNOWN:
        return tuple(words)
    names = (" ".join(words[:number]) for number in (1, 2, 3))
    carrier = next((name for name in names if programs.row_of(name).carries), "")
    behind = carried_by(carrier, words[carrier.count(" ") + 1 :])
    return last_command("bash", behind) if behind else tuple(words)


def carried_by(program: str, words: list[str]) -> str:
    """Return the command line that `ssh` and the like run elsewhere."""
    row = programs.row_of(program)
    if not row.carries:
        return ""
    behind = _skip_options(words, programs.words_of(row.values))[1:]
    return " ".join(behind[1:] if behind[:1] == ["--"] else behind)


def command_of(tool: str, arguments: str | Mapping[str, object] | None) -> str | Sequence[object]:
    """Return a call's command line, or its words in a list."""
    if isinstance(arguments, str):
        if not NAMES_COMMAND.search(arguments):
            is_command = tool.lower() in SHELL_TOOLS and not arguments.lstrip().startswith("{")
            return arguments[:MAX_COMMAND] if is_command else ""
        arguments = cast("Mapping[str, object] | None", parse_arguments(arguments))
    return command_in(arguments) if isinstance(arguments, Mapping) else ""


def command_in(arguments: Mapping[str, object]) -> str | Sequence[object]:
    """Return the command line or argument vector in arguments; empty without one."""
    command = next((arguments[name] for name in COMMAND_ARGUMENTS if name in arguments), "")
    if isinstance(command, str):
        return command[:MAX_COMMAND]
    return cast("Sequence[object]", command) if isinstance(command, (list, tuple)) else ""


def invocations_in(command: str | Sequence[object], nesting: int = 0) -> Iterator[Invocation]:
    """Yield the programs that a command line runs, in order."""
    if not isinstance(command, str):
        yield from _parse_simple_command([word for word in command[:_MAX_WORDS] if isinstance(word, str)], nesting)
        return
    folders: tuple[str, ...] = ()
    line = _cut_here_documents(_COMMENT.sub("", command))
    shown = _list_transparent(line)
    commands = list(islice(_split_commands(line), _MAX_SIMPLE))
    for number, (words, before, behind) in enumerate(commands):
        if words and words[0] in programs.CHANGING_FOLDER:
            folders = (*folders, *words[1:2])[-_MAX_FOLDERS:]
            continue
        hidden = behind != "" and _is_hidden(commands[number:], shown)
        for run in _parse_simple_command(words, nesting):
            yield run._replace(folders=(*folders, *run.folders), piped=before == "|", hidden=hidden or run.hidden)


def _list_transparent(line: str) -> frozenset[str]:
    # What joins commands so that the failure of the first one shows in the status of the last.
    found = _SETS.match(line)
    if found is None:
        return frozenset({"&&"})
    exits = ";" if "e" in found["options"] else "&&"
    return frozenset({"&&", exits, "|" if found["pipefail"] else "&&"})


def _is_hidden(commands: Sequence[_SimpleCommand], shown: frozenset[str]) -> bool:
    return any(command.behind not in shown for command in commands if command.behind)


def _cut_here_documents(line: str) -> str:
    kept: list[str] = []
    start = 0
    while document := _HERE_DOCUMENT.search(line, start):
        body = line.find("\n", document.end())
        end = line.find(f"\n{document[1]}", max(body, document.end()))
        kept.append(line[start : document.start()] + line[document.end() : body])
        if body < 0 or end < 0:
            return "".join(kept)
        start = end + 1 + len(document[1])
    return "".join(kept) + line[start:]


def _split_commands(line: str) -> Iterator[_SimpleCommand]:
    # `cat` into a file only writes that file, and has no words.
    words: list[str] = []
    is_target = writes = False
    before = behind = ""
    kept: list[str] | None = None
    for token in _TOKEN.finditer(line):
        if token.lastgroup == "end":
            if words:
                kept, words = ([] if writes and words[:1] == ["cat"] else words), []
            behind += "" if token[0] in "()" else token[0].replace("\n", ";")
            writes = False
            continue
        if kept is not None:
            yield _SimpleCommand(kept, before, behind)
            kept = None
        if behind:
            before, behind = behind, ""
        if token.lastgroup == "redirect":
            is_target = not token[0].endswith("-")
            writes = writes or token[0].startswith(">")
        elif is_target:
            is_target = False
        elif len(words) < _MAX_WORDS:
            words.append(_QUOTED.sub(_unquote_word, token[0]))
    yield _SimpleCommand(kept if kept is not None else [] if writes and words[:1] == ["cat"] else words, before, "")


def _unquote_word(quoted: re.Match[str]) -> str:
    return next((text for text in quoted.groups() if text is not None), "")


def _parse_simple_command(words: list[str], nesting: int) -> Iterator[Invocation]:
    words = _unwrap_command(words)
    if not words or words[0] in programs.PREPARING:
        return
    name, rest = _final_name(words[0]), words[1:]
    if name in programs.SHELLS and nesting < _MAX_NESTING and len(rest) > 1 and re.fullmatch(r"-[a-z]*c", rest[0]):
        yield from invocations_in(rest[1], nesting + 1)
        return
    if _PYTHON.match(name):
        name = "python"
    row = programs.row_of(name)
    if row.interprets:
        yield _parse_script(row, name, rest)
    elif row.subcommands == programs.ANY_WORD:
        yield _parse_subcommand(row, name, rest)
    elif row.subcommands or row.tasks:
        yield _parse_known_subcommand(row, name, rest)
    elif name:
        yield Invocation(name, rest)


def _unwrap_command(words: list[str]) -> list[str]:
    # Keywords, assignments and wrappers stand in front of the program that matters.
    while words:
        name = _final_name(words[0])
        if words[0] in programs.KEYWORDS or _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif words[0].startswith("$") and words[1:2] == ["="]:  # PowerShell's assignment
            words = words[2:]
        elif (row := programs.row_of(name)).wraps and programs.words_of(row.asks).isdisjoint(words[1:2]):
            words = _skip_options(words[1:], programs.words_of(row.values))[row.skips :]
        elif row is not programs.UNKNOWN and programs.row_of(f"{name} {''.join(words[1:2])}").wraps:
            words = _skip_options(words[2:], programs.LAUNCHER_OPTIONS)
        else:
            break
    return words


def _skip_options(words: list[str], with_value: frozenset[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at:]


def _parse_script(row: Command, name: str, words: list[str]) -> Invocation:
    for at, (word, following) in enumerate(pairwise([*words, ""])):
        if word and word == row.module_option:
            return Invocation(f"{name} {word} {following}", words[at + 2 :])
        # Code on the command line has no target: what it is about is unknown.
        if word in {"-c", "-e", "-"}:
            return Invocation(f"{name} {word}")
        if not word.startswith("-"):
            script = _final_name(word)
            place = [word] if "/" in word.removeprefix("./") else []
            if "." in script and programs.row_of(script).subcommands:
                return Invocation(f"{name} {script} {following}", [*place, *words[at + 2 :]])
            return Invocation(f"{name} {script}", [*place, *words[at + 1 :]])
    return Invocation(name)


def _parse_subcommand(row: Command, name: str, words: list[str]) -> Invocation:
    if words and words[0] == row.scope:
        words = [f"--{row.scope}={''.join(words[1:2])}", *words[2:]]
    found, rest, at = name, list[str](), 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("-"):
            rest.append(word)
            if at < len(words) and _takes_value(row, word, words[at]):
                rest[-1] = f"{word}={words[at]}"
                at += 1
        elif not _SUBCOMMAND.match(word):
            rest.append(word)
        else:
            found = f"{found} {word}"
            if not programs.row_of(found).subcommands:
                break
    return Invocation(found, [*rest, *words[at:]])


def _takes_value(row: Command, option: str, following: str) -> bool:
    if "=" in option or following.startswith("-"):
        return False
    if option in programs.WITH_VALUE or option in programs.words_of(f"{row.scopes} {row.texts}"):
        return True
    # The word after an unknown option is its value, unless it is a subcommand of many programs.
    return option.startswith("--") and not (
        option in programs.FLAGS
        or option.startswith("--no-")
        or following in programs.COMMON_SUBCOMMANDS
        or option == "--"
    )


def _parse_known_subcommand(row: Command, name: str, words: list[str]) -> Invocation:
    options, known = programs.words_of(row.tasks), programs.words_of(row.subcommands)
    found, rest = name, list[str]()
    for word, following in pairwise([*words, ""]):
        option, has_value, value = word.partition("=")
        if option in options and (has_value or following):
            return Invocation(f"{found} {option} {value if has_value else following}", [])
    for at, word in enumerate(words):
        if word in known:
            return Invocation(f"{found} {word}", [*rest, *words[at + 1 :]])
        if not word.startswith("-"):
            return Invocation(found, [*rest, *words[at:]])
        rest.append(word)
    return Invocation(found, rest)


def _final_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".exe")
