"""Which operation a call is: what must succeed for its failures to be resolved, and which calls are identical."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_COMMAND: Final = 4_096
"""Characters of a command line that are looked at."""

_MAX_COMMANDS: Final = 32
_MAX_WORDS: Final = 64
_MAX_NESTING: Final = 3
_FINGERPRINT_BYTES: Final = 8
_COMMAND_ARGUMENTS: Final = ("command", "cmd", "commands")
_NAMES_COMMAND: Final = re.compile(f'"(?:{"|".join(_COMMAND_ARGUMENTS)})"')
_SHELL_TOOLS: Final = frozenset(
    {"bash", "sh", "zsh", "shell", "terminal", "exec", "exec_command", "execute_bash", "run"}
)

_TOKEN: Final = re.compile(
    r"(?P<redirect>[0-9]?[<>]+&?-?)"
    r"|(?P<word>(?:\$(?:\([^()\n]*\))?|[^\s'\"\\|&;<>()$]+|'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.)+)"
    r"|(?P<end>[|&;()\n])",
    re.DOTALL,
)
_QUOTED: Final = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_COMMENT: Final = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_HERE_DOCUMENT: Final = re.compile(r"<<-?[ \t]*['\"]?(\w+)['\"]?")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_SUBCOMMAND: Final = re.compile(r"[a-z][\w:.-]*\Z")
_PYTHON: Final = re.compile(r"(?:python|pypy)[0-9.]*\Z")
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_INTERPRETERS: Final = frozenset(
    {"node", "ruby", "perl", "php", "deno", "ts-node", "tsx", "Rscript", "julia", "lua", "java"}
)
_KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done"})
_PREPARING: Final = frozenset(
    {
        "cd",
        "pushd",
        "popd",
        "export",
        "unset",
        "source",
        ".",
        "set",
        "echo",
        "printf",
        "true",
        "sleep",
        "for",
        "[",
        "[[",
    }
)
"""Commands that prepare the one that matters, or only announce it."""

_WRAPPERS: Final = {
    "sudo": frozenset({"-u", "-g"}),
    "env": frozenset({"-u", "-C"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n"}),
    "nohup": frozenset[str](),
    "command": frozenset[str](),
    "exec": frozenset({"-a"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d"}),
    "npx": frozenset({"-p", "--package"}),
    "bunx": frozenset[str](),
    "uvx": frozenset({"--from", "--with"}),
    "xvfb-run": frozenset({"-s"}),
}
"""Programs that run another one, with those of their options that take a value."""

_RUNNERS: Final = frozenset(
    {"uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "pixi run", "bundle exec", "pnpm exec"}
)
"""As wrappers, with a subcommand."""

_RUNNER_OPTIONS: Final = frozenset(
    {"--with", "--extra", "--group", "--python", "-p", "-e", "--directory", "--project", "--env-file"}
)
_WITH_SUBCOMMAND: Final = frozenset(
    {
        "apt", "apt-get", "aws", "az", "brew", "bun", "bundle", "cargo", "composer", "conda", "dnf", "docker",
        "docker-compose", "dotnet", "flutter", "gcloud", "gh", "git", "go", "gradle", "gradlew", "helm", "hg", "just",
        "kubectl", "make", "mamba", "mix", "mvn", "mvnw", "npm", "pip", "pip3", "pipenv", "pixi", "pnpm", "podman",
        "poetry", "rails", "rake", "rustup", "swift", "systemctl", "task", "terraform", "tofu", "uv", "yarn", "yum",
    }
)  # fmt: skip
_WITH_TWO_SUBCOMMANDS: Final = frozenset(
    {
        "npm run",
        "npm exec",
        "pnpm run",
        "yarn run",
        "bun run",
        "docker compose",
        "podman compose",
        "git remote",
        "git stash",
    }
    | {
        "git submodule",
        "git worktree",
        "uv pip",
        "uv tool",
        "go mod",
        "gh pr",
        "gh issue",
        "gh run",
        "aws s3",
        "helm repo",
    }
)
_OPTIONS_WITH_VALUE: Final = frozenset(
    {
        "-C",
        "-c",
        "-f",
        "-n",
        "-H",
        "-j",
        "--prefix",
        "--directory",
        "--project",
        "--namespace",
        "--context",
        "--git-dir",
    }
    | {"--work-tree", "--manifest-path", "--file", "--cwd", "--profile", "--region"}
)


def operation_of(tool: str, arguments: str | Mapping[str, object] | None) -> str:
    """
    Return what must succeed for a failure of this call to be resolved.

    It is the tool's name; for a tool that runs commands it is the tool with the program and its subcommand, so that
    listing files does not resolve a failing test.

    Args:
        tool: The tool's name.
        arguments: The call's arguments: as JSON, as a mapping, or as the command line itself.
    """
    for program in programs_of(tool, arguments):
        return f"{tool} {program}"
    return tool


def programs_of(tool: str, arguments: str | Mapping[str, object] | None) -> Iterator[str]:
    """
    Yield the programs that a call runs, each with its subcommand, in order; nothing for a tool that runs no commands.

    Commands that only prepare, such as `cd`, and wrappers such as `sudo` or `timeout 5` are left out.
    """
    command = _command_of(tool, arguments)
    return islice(_programs(command, 0), _MAX_COMMANDS) if command else iter(())


def runs_commands(tool: str, arguments: str) -> bool:
    """Tell whether `programs_of` may find a program in a call; where not, that is known at once."""
    return tool.lower() in _SHELL_TOOLS or _NAMES_COMMAND.search(arguments) is not None


def call_fingerprint(tool: str, arguments: str | Mapping[str, object] | None) -> str:
    """
    Return a short stable hash of a call: equal for calls of one tool with equal arguments.

    The order of keys in a JSON object does not matter.
    """
    material = f"{tool}\x1f{_canonical(arguments)}".encode("utf-8", "surrogatepass")
    return blake2b(material, digest_size=_FINGERPRINT_BYTES).hexdigest()


def _canonical(arguments: str | Mapping[str, object] | None) -> str:
    value = _parsed(arguments) if isinstance(arguments, str) else arguments
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except Exception:  # noqa: BLE001 - the application's own objects may raise anything from `repr`
        return f"{type(value).__qualname__} {id(value)}"


def _parsed(text: str) -> object:
    """
    Parse arguments in JSON; what is none stays a text.
    """
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _command_of(tool: str, arguments: str | Mapping[str, object] | None) -> str | Sequence[object]:
    """
    Return the command line or argument vector of a call; empty for a tool that runs no commands.
    """
    if isinstance(arguments, str):
        if not _NAMES_COMMAND.search(arguments):
            is_command = tool.lower() in _SHELL_TOOLS and not arguments.lstrip().startswith("{")
            return arguments[:MAX_COMMAND] if is_command else ""
        arguments = cast("Mapping[str, object] | None", _parsed(arguments))
    if not isinstance(arguments, Mapping):
        return ""
    command = next((arguments[name] for name in _COMMAND_ARGUMENTS if name in arguments), "")
    if isinstance(command, str):
        return command[:MAX_COMMAND]
    return cast("Sequence[object]", command) if isinstance(command, (list, tuple)) else ""


def _programs(command: str | Sequence[object], nesting: int) -> Iterator[str]:
    if not isinstance(command, str):
        yield from _program([word for word in command[:_MAX_WORDS] if isinstance(word, str)], nesting)
        return
    for words in _simple_commands(_without_documents(_COMMENT.sub("", command))):
        yield from _program(words, nesting)


def _without_documents(line: str) -> str:
    """
    Cut the bodies of here documents, which are data.
    """
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


def _simple_commands(line: str) -> Iterator[list[str]]:
    """
    Split a command line into its simple commands, each a list of words without quotes and redirections.

    `cat` into a file only writes that file, and yields nothing.
    """
    words: list[str] = []
    is_target = writes = False
    for token in _TOKEN.finditer(line):
        if token.lastgroup == "end":
            yield [] if writes and words[:1] == ["cat"] else words
            words, writes = [], False
        elif token.lastgroup == "redirect":
            is_target = not token[0].endswith("-")
            writes = writes or token[0].startswith(">")
        elif is_target:
            is_target = False
        elif len(words) < _MAX_WORDS:
            words.append(_QUOTED.sub(_unquoted, token[0]))
    yield [] if writes and words[:1] == ["cat"] else words


def _unquoted(quoted: re.Match[str]) -> str:
    return next((text for text in quoted.groups() if text is not None), "")


def _program(words: list[str], nesting: int) -> Iterator[str]:
    """
    Yield what one simple command runs: nothing, a program, or those of the script behind `sh -c`.
    """
    words = _unwrapped(words)
    if not words or words[0] in _PREPARING:
        return
    name, rest = _final_name(words[0]), words[1:]
    if name in _SHELLS and nesting < _MAX_NESTING and len(rest) > 1 and re.fullmatch(r"-[a-z]*c", rest[0]):
        yield from _programs(rest[1], nesting + 1)
    elif _PYTHON.match(name):
        yield " ".join(["python", *_script(rest, module_option="-m")])
    elif name in _INTERPRETERS or name in _SHELLS:
        yield " ".join([name, *_script(rest)])
    elif name in _WITH_SUBCOMMAND:
        yield _with_subcommand(name, rest)
    elif name:
        yield name


def _unwrapped(words: list[str]) -> list[str]:
    """
    Drop keywords, assignments and wrapping programs in front of the program that matters.
    """
    while words:
        name = _final_name(words[0])
        if words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif name in _WRAPPERS:
            words = _without_options(words[1:], _WRAPPERS[name])
            if name == "timeout":
                words = words[1:]
        elif f"{name} {''.join(words[1:2])}" in _RUNNERS:
            words = _without_options(words[2:], _RUNNER_OPTIONS)
        else:
            break
    return words


def _without_options(words: list[str], with_value: frozenset[str]) -> list[str]:
    """
    Drop the options at the start of `words`, and the values of those that take one.
    """
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at:]


def _script(words: list[str], module_option: str = "") -> list[str]:
    """
    Return what an interpreter runs: a module, a script by its final name, or the option that brings code.
    """
    for word, following in pairwise([*words, ""]):
        if word == module_option:
            return [word, following]
        if word in {"-c", "-e", "-"}:
            return [word]
        if not word.startswith("-"):
            script = _final_name(word)
            return [script, following] if script == "manage.py" else [script]
    return []


def _with_subcommand(name: str, words: list[str]) -> str:
    found = [name]
    for word in _arguments(words):
        if not _SUBCOMMAND.match(word):
            continue
        found.append(word)
        if " ".join(found) not in _WITH_TWO_SUBCOMMANDS:
            break
    return " ".join(found)


def _arguments(words: list[str]) -> Iterator[str]:
    """
    Yield the words that are neither options nor their values.
    """
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            yield word
        is_value = not is_value and word in _OPTIONS_WITH_VALUE


def _final_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".exe")
