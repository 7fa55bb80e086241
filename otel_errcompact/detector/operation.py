"""Which operation a call is: what must succeed for its failures to be resolved, and which calls are identical."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from otel_errcompact.errors import Operation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_COMMAND: Final = 4_096
"""Characters of a command line that are looked at."""

MAX_ARGUMENTS: Final = 1_000_000
"""Characters of arguments in JSON beyond which their targets are not looked for."""

MAX_TARGETS: Final = 8
"""Targets of an operation; of further ones only a hash is kept."""

MAX_TARGET: Final = 200
"""Characters of a target; longer texts are free text, or keep a hash of what is cut."""

_MAX_COMMANDS: Final = 32
_MAX_PROGRAMS: Final = 8
_MAX_WORDS: Final = 64
_MAX_NESTING: Final = 3
_MAX_FIELDS: Final = 32
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
_INTERPRETERS: Final = frozenset({"node", "ruby", "perl", "php", "ts-node", "tsx", "Rscript", "julia", "lua", "java"})
_KEYWORDS: Final = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "fi", "done"})
_CHANGING_FOLDER: Final = frozenset({"cd", "pushd"})
_PREPARING: Final = _CHANGING_FOLDER | {
    "popd", "export", "unset", "source", ".", "set", "echo", "printf", "true", "sleep", "for", "[", "[[",
}  # fmt: skip
"""Commands that prepare the one that matters, or only announce it."""

_AUXILIARY: Final = frozenset(
    {
        "cat", "chmod", "chown", "clear", "cp", "date", "find", "git add", "git diff", "git log", "git stash",
        "git status", "grep", "head", "kill", "ln", "ls", "mkdir", "mv", "pkill", "pwd", "rg", "rm", "sed", "tail",
        "tee", "touch", "type", "wait", "wc", "which", "whoami",
    }
)  # fmt: skip
"""Programs that are not what a command line is for where it runs others too."""

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
    {
        "uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "pixi run", "bundle exec",
        "pnpm exec", "pnpm dlx", "yarn dlx", "npm exec", "mise exec", "mise x", "conda run", "mamba run",
    }
)  # fmt: skip
"""As wrappers, with a subcommand."""

_RUNNER_OPTIONS: Final = frozenset(
    {"--with", "--extra", "--group", "--python", "-p", "-e", "-n", "--directory", "--project", "--env-file"}
)
_WITH_SUBCOMMAND: Final = frozenset(
    {
        "alembic", "ansible", "apt", "apt-get", "asdf", "aws", "az", "bazel", "brew", "buf", "buildah", "bun",
        "bundle", "cabal", "cargo", "composer", "conda", "dagger", "dart", "dbt", "deno", "dnf", "docker",
        "docker-compose", "doit", "dotnet", "dune", "flask", "flutter", "gcloud", "gem", "gh", "git", "glab", "gmake",
        "go", "gradle", "gradlew", "grunt", "gulp", "hatch", "helm", "hg", "inv", "invoke", "jj", "just", "kubectl",
        "lage", "lein", "lerna", "make", "mamba", "mise", "mix", "moon", "mvn", "mvnw", "ng", "nix", "npm", "nx",
        "opam", "pants", "pdm", "pip", "pip3", "pipenv", "pipx", "pixi", "pnpm", "podman", "poe", "poetry",
        "pre-commit", "prisma", "pulumi", "rails", "rake", "rush", "rustup", "sbt", "stack", "supabase", "svn",
        "swift", "systemctl", "task", "terraform", "tofu", "turbo", "uv", "vagrant", "yarn", "yum", "zig",
    }
)  # fmt: skip
_WITH_TWO_SUBCOMMANDS: Final = frozenset(
    {
        "npm run", "pnpm run", "yarn run", "bun run", "npm run-script", "docker compose", "podman compose",
        "docker buildx", "docker image", "docker container", "docker volume", "docker network", "git remote",
        "git stash", "git submodule", "git worktree", "git lfs", "git bisect", "uv pip", "uv tool", "go mod", "go tool",
        "gh pr", "gh issue", "gh run", "gh repo", "gh release", "gh workflow", "glab mr", "glab issue", "aws s3",
        "aws s3api", "aws ec2", "aws lambda", "aws iam", "aws dynamodb", "helm repo", "mise run", "mise r", "turbo run",
        "lerna run", "nx run", "moon run", "deno task", "rush run", "pixi run", "cargo xtask", "composer run",
        "composer run-script", "rails db", "kubectl rollout", "kubectl config", "terraform state",
        "terraform workspace", "poetry env", "conda env", "hatch env", "pre-commit run", "bazel run",
    }
)  # fmt: skip
_WITH_ONE_OF: Final = {
    "ruff": frozenset({"check", "format"}),
    "vitest": frozenset({"run", "watch", "bench", "typecheck", "related"}),
    "playwright": frozenset({"test", "install", "codegen", "show-report"}),
    "cypress": frozenset({"run", "open", "verify", "install"}),
    "biome": frozenset({"check", "lint", "format", "ci"}),
    "next": frozenset({"build", "dev", "lint", "start"}),
    "vite": frozenset({"build", "dev", "preview"}),
    "golangci-lint": frozenset({"run", "fmt"}),
    "coverage": frozenset({"run", "report", "html", "xml", "combine", "erase"}),
    "tox": frozenset({"run", "r", "run-parallel", "p", "list", "config"}),
    "django-admin": frozenset({"test", "migrate", "makemigrations", "check", "startapp", "startproject"}),
}
"""Programs of which only these words are subcommands: other words are files and names."""

_SESSION_OPTIONS: Final = {"tox": frozenset({"-e"}), "nox": frozenset({"-s", "--session", "-e", "--sessions"})}
"""Options of task runners that name the task."""

_VERBS: Final = frozenset(
    {
        "add", "apply", "audit", "bench", "build", "bundle", "check", "checkout", "ci", "clean", "clippy", "clone",
        "commit", "compile", "config", "coverage", "create", "delete", "deploy", "describe", "dev", "diff", "doc",
        "docs", "down", "e2e", "exec", "fetch", "fix", "fmt", "format", "generate", "get", "info", "init", "install",
        "lint", "list", "log", "logs", "ls", "merge", "migrate", "outdated", "package", "plan", "ps", "publish", "pull",
        "push", "rebase", "release", "remove", "reset", "restart", "run", "run-script", "serve", "show", "start",
        "stash", "status", "stop", "sync", "test", "tests", "typecheck", "unit", "up", "update", "upgrade", "validate",
        "verify", "watch",
    }
)  # fmt: skip
"""Words that are subcommands wherever they stand: what stands before them is an option without a value."""

_FLAGS: Final = frozenset(
    {
        "--all", "--color", "--debug", "--dry-run", "--force", "--frozen", "--help", "--if-present", "--json",
        "--locked", "--offline", "--parallel", "--quiet", "--recursive", "--release", "--silent", "--verbose",
        "--version", "--watch", "--workspaces", "--yes",
    }
)  # fmt: skip
"""Long options that take no value, whatever the program."""

_FOLDER_OPTIONS: Final = frozenset({"-C", "--prefix", "--directory", "--cwd", "--work-tree", "--chdir", "--dir"})
"""Options that say in which folder a program works."""

_SCOPING_OPTIONS: Final = frozenset(
    {
        "--context", "--exclude-task", "--file", "--filter", "--git-dir", "--grep", "--manifest-path", "--namespace",
        "--only", "--package", "--profile", "--project", "--projects", "--region", "--scope", "--selector", "--spec",
        "--suite", "--target", "--test-name-pattern", "--testNamePattern", "--testPathPattern", "--tests",
        "--workspace",
    }
)  # fmt: skip
"""Long options that say what a program is about or narrow it, whatever the program."""

_TEXT_OPTIONS: Final = frozenset(
    {
        "-H", "--header", "--message", "--title", "--body", "--description", "--notes", "--data", "--data-raw",
        "--data-binary", "--user-agent", "--format", "--output", "--template", "--jsonpath", "--query", "--sort",
        "--limit", "--tail", "--since", "--jobs", "--author", "--date", "--color", "--reporter", "--log-level",
        "--token", "--password", "--request", "--method",
    }
)  # fmt: skip
"""Options whose value is text, form or number: it says how, not what about."""

_SCOPING_LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "npm": frozenset({"-w"}),
    "pnpm": frozenset({"-F"}),
    "kubectl": frozenset({"-n", "-f", "-l", "-c"}),
    "helm": frozenset({"-n", "-f"}),
    "docker": frozenset({"-f", "-p"}),
    "podman": frozenset({"-f", "-p"}),
    "docker-compose": frozenset({"-f", "-p"}),
    "make": frozenset({"-f"}),
    "gmake": frozenset({"-f"}),
    "mvn": frozenset({"-f", "-pl", "-P"}),
    "mvnw": frozenset({"-f", "-pl", "-P"}),
    "gradle": frozenset({"-p", "-x"}),
    "gradlew": frozenset({"-p", "-x"}),
    "cargo": frozenset({"-p"}),
    "gh": frozenset({"-R"}),
    "terraform": frozenset[str](),
    "psql": frozenset({"-d", "-h", "-f"}),
    "mysql": frozenset({"-h"}),
    "jest": frozenset({"-t"}),
    "vitest": frozenset({"-t"}),
    "mocha": frozenset({"-g", "-f"}),
    "playwright": frozenset({"-g"}),
    "rspec": frozenset({"-e", "-t"}),
    "ctest": frozenset({"-R", "-E", "-L"}),
    "tsc": frozenset({"-p"}),
    "turbo": frozenset({"-F"}),
    "nx": frozenset({"-p", "-t"}),
    "task": frozenset({"-t", "-d"}),
    "just": frozenset({"-f", "-d"}),
    "ansible-playbook": frozenset({"-i", "-l"}),
    "hatch": frozenset({"-e"}),
    "python -m unittest": frozenset({"-k"}),
}
"""Options of one letter that say what a program is about, by program."""

_TEXT_LETTERS: Final[Mapping[str, frozenset[str]]] = {
    "git": frozenset({"-c", "-n", "-m"}),
    "hg": frozenset({"-m"}),
    "curl": frozenset({"-X", "-d", "-A", "-b", "-u", "-o", "-w", "-m", "-e", "-F"}),
    "wget": frozenset({"-O", "-U", "-T", "-t"}),
    "gh": frozenset({"-b", "-t", "-m", "-f", "-F", "-X", "-q", "-L"}),
    "make": frozenset({"-j", "-l"}),
    "gmake": frozenset({"-j", "-l"}),
    "cargo": frozenset({"-j", "-F"}),
    "kubectl": frozenset({"-o"}),
    "helm": frozenset({"-o"}),
    "docker": frozenset({"-e", "-H"}),
    "psql": frozenset({"-U", "-p"}),
    "mysql": frozenset({"-u", "-p"}),
    "head": frozenset({"-n", "-c"}),
    "tail": frozenset({"-n", "-c"}),
    "grep": frozenset({"-A", "-B", "-C", "-m", "-e"}),
    "rg": frozenset({"-A", "-B", "-C", "-m", "-e", "-t", "-g"}),
    "sed": frozenset({"-e"}),
    "awk": frozenset({"-F", "-v"}),
    "jq": frozenset({"--arg"}),
    "tox": frozenset({"-p"}),
    "nox": frozenset({"-p"}),
}
"""Options of one letter with a value that says how, by program."""

_WITH_SCRIPT: Final = frozenset({"sed", "awk", "grep", "egrep", "fgrep", "rg", "ag", "ack", "jq", "yq"})
"""Programs whose first word is a pattern or a script: it says how, not what about."""


class _Runner(NamedTuple):
    """
    What is known of a program that runs everything where it is given no target.
    """

    harmless: frozenset[str] = frozenset()
    """Options that leave nothing out."""
    with_value: frozenset[str] = frozenset()
    """As `harmless`, with a value."""
    narrowing: frozenset[str] = frozenset()
    """Options with a value that leave things out."""
    narrowing_flags: frozenset[str] = frozenset()
    """Options without a value that leave things out."""
    everything: frozenset[str] = frozenset({"."})
    """Targets that mean everything."""
    bare: str = ""
    """The target where none is given; everything if empty."""
    patterns: bool = False
    """Whether a folder stands for all below it only as `folder/...`."""
    needs_target: bool = False
    """Whether it is not certain what runs where no target is given."""


_PYTEST: Final = _Runner(
    harmless=frozenset(
        {
            "-q", "-qq", "-v", "-vv", "-vvv", "-s", "-x", "-l", "--verbose", "--quiet", "--exitfirst",
            "--no-header", "--no-summary", "--showlocals", "--full-trace", "--no-cov", "--disable-warnings",
            "--disable-pytest-warnings", "--cov", "--ff", "--failed-first", "--nf", "--new-first", "--setup-show",
            "-rA", "-ra", "-rf", "-rs", "-rx", "-rfE", "-rN", "--strict-markers", "--cache-clear",
            "--benchmark-disable",
        }
    ),
    with_value=frozenset(
        {
            "--tb", "--maxfail", "--color", "--durations", "--durations-min", "-n", "--numprocesses", "--dist",
            "--cov-report", "--timeout", "--junitxml", "--junit-xml", "--log-level", "--log-cli-level", "--capture",
            "--show-capture", "--basetemp", "-r", "--verbosity", "-p",
        }
    ),
    narrowing=frozenset({"-k", "-m", "--deselect", "--ignore", "--ignore-glob"}),
    narrowing_flags=frozenset({"--lf", "--last-failed", "--sw", "--stepwise"}),
)  # fmt: skip
_GO: Final = _Runner(
    harmless=frozenset({"-v", "-race", "-count=1", "-failfast", "-cover", "-json", "-x", "-a"}),
    with_value=frozenset({"-timeout", "-count", "-parallel", "-p", "-coverprofile", "-covermode", "-o"}),
    narrowing=frozenset({"-run", "-skip"}),
    narrowing_flags=frozenset({"-short"}),
    everything=frozenset({"./...", "..."}),
    bare=".",
    patterns=True,
)
_JEST: Final = _Runner(
    harmless=frozenset(
        {"--ci", "--verbose", "--silent", "--runInBand", "-i", "--no-cache", "--coverage", "--colors", "--no-color",
         "--no-coverage", "--bail", "--forceExit", "--detectOpenHandles", "--run", "--no-watch", "--watchAll=false"}
    ),
    with_value=frozenset({"--maxWorkers", "-w", "--testTimeout", "--reporter", "--reporters", "--pool"}),
    narrowing=frozenset({"-t", "--testNamePattern", "--testPathPattern", "--testPathPatterns"}),
    narrowing_flags=frozenset({"-o", "--onlyChanged", "--onlyFailures", "-f", "--changed"}),
    everything=frozenset[str](),
)  # fmt: skip
_RUNNERS_OF_ALL: Final[Mapping[str, _Runner]] = {
    "pytest": _PYTEST,
    "py.test": _PYTEST,
    "python -m pytest": _PYTEST,
    "go test": _GO,
    "go vet": _GO,
    "go build": _GO,
    "cargo test": _Runner(
        harmless=frozenset(
            {"-q", "--quiet", "-v", "--verbose", "--no-fail-fast", "--locked", "--offline", "--frozen", "--nocapture",
             "--show-output"}
        ),
        with_value=frozenset({"-j", "--jobs", "--color", "--message-format", "--test-threads"}),
        narrowing=frozenset({"--test", "--bin", "--example", "--skip"}),
        narrowing_flags=frozenset({"--lib", "--bins", "--tests", "--exact"}),
        everything=frozenset[str](),
    ),
    "jest": _JEST,
    "vitest": _JEST,
    "vitest run": _JEST,
    "ruff check": _Runner(
        harmless=frozenset({"-q", "--quiet", "-v", "--verbose", "--fix", "--no-cache", "--show-fixes", "--no-fix"}),
        with_value=frozenset({"--output-format"}),
        narrowing=frozenset({"--select", "--ignore", "--exclude"}),
    ),
    "ruff format": _Runner(
        harmless=frozenset({"-q", "--quiet", "-v", "--verbose", "--no-cache"}), narrowing=frozenset({"--exclude"})
    ),
    "mypy": _Runner(
        harmless=frozenset({"--pretty", "--show-error-codes", "--no-color-output", "--no-incremental",
                            "--no-error-summary", "--show-column-numbers"}),
        narrowing=frozenset({"--exclude"}),
        needs_target=True,
    ),
    "rspec": _Runner(
        harmless=frozenset({"-b", "--backtrace", "--no-color", "--fail-fast", "--color"}),
        with_value=frozenset({"-f", "--format", "--seed", "--order"}),
        narrowing=frozenset({"-e", "--example", "-t", "--tag", "-E"}),
        narrowing_flags=frozenset({"--only-failures", "-n", "--next-failure"}),
            everything=frozenset({"spec"}),
    ),
}  # fmt: skip
"""Programs whose success over everything, or over a folder, is surely the success of what lies within."""


def operation_of(tool: str, arguments: str | Mapping[str, object] | None, *, target: str = "") -> Operation:
    """
    Return what must succeed for a failure of this call to be resolved.

    It is the tool and what the call is about. For a tool that runs commands the program and its subcommand belong to
    it, so that listing files does not resolve a failing test.

    Args:
        tool: The tool's name.
        arguments: The call's arguments: as JSON, as a mapping, or as the command line itself.
        target: What the call is about, where the caller knows better than its arguments tell.
    """
    if type(tool) is not str:
        tool = str(tool) if isinstance(tool, str) else type(tool).__name__  # pyright: ignore[reportUnnecessaryIsInstance]
    try:
        found = _operation_of(tool, arguments)
    except Exception:  # noqa: BLE001 - the application's own mappings may raise anything
        found = Operation(tool)
    return Operation(found.name, (_cleaned(target),)) if target else found


def covers(operation: Operation, other: Operation) -> bool:
    """Tell whether a success of `operation` is surely a success of `other`."""
    return operation == other or (operation.wide and operation.name == other.name and _covers(operation.targets, other))


def _operation_of(tool: str, arguments: str | Mapping[str, object] | None) -> Operation:
    if isinstance(arguments, str):
        if not runs_commands(tool, arguments):
            return _of_text(tool, arguments)
        if _NAMES_COMMAND.search(arguments) is None and not arguments.lstrip().startswith("{"):
            return _of_command(tool, arguments[:MAX_COMMAND], {})
        arguments = cast("Mapping[str, object] | None", _parsed(arguments))
    if not isinstance(arguments, Mapping):
        return Operation(tool)
    for name in _COMMAND_ARGUMENTS:
        if name in arguments:
            command = _command_in(arguments)
            return _of_command(tool, command, arguments) if command else Operation(tool, _named(arguments))
    return _of_arguments(tool, arguments)


def _of_text(tool: str, arguments: str) -> Operation:
    """
    Return the operation of a tool that is no shell, from arguments in JSON or in one word.
    """
    if arguments[:1] == "{" or arguments.lstrip()[:1] == "{":
        parsed = _parsed(arguments) if len(arguments) <= MAX_ARGUMENTS else None
        return (
            _of_arguments(tool, cast("Mapping[str, object]", parsed)) if isinstance(parsed, dict) else Operation(tool)
        )
    word = arguments.strip() if len(arguments) <= MAX_TARGET else ""
    return Operation(tool, (_cleaned(word),)) if word and not any(map(str.isspace, word)) else Operation(tool)


def _of_arguments(tool: str, arguments: Mapping[str, object]) -> Operation:
    name = tool
    for argument in _ACTIONS:
        action = arguments.get(argument)
        if isinstance(action, str) and _ACTION.match(action):
            name = f"{tool} {action}"
            break
    return Operation(name, _named(arguments))


def _of_command(tool: str, command: str | Sequence[object], arguments: Mapping[str, object]) -> Operation:
    """
    Return the operation of a command: that of its first program, with the folder it runs in.
    """
    is_shell = tool.lower() in _SHELL_TOOLS
    if not is_shell and isinstance(command, str) and _SQL.match(command):
        return Operation(tool, _bounded([*_tables(command), *_named(arguments)]))
    targets = [*_sessions(arguments)] if is_shell else [*_named(arguments)]
    folder = next((str(arguments[name]) for name in _FOLDERS if isinstance(arguments.get(name), str)), "")
    runs = [run for run in islice(_runs(command, 0), _MAX_PROGRAMS) if not run.piped]
    if not runs:
        return Operation(tool, _bounded([*targets, *_folder(folder)]))
    if len(runs) > 1:
        runs = [run for run in runs if run.program not in _AUXILIARY] or runs
    own, folder, wide = _targets(runs[0], folder)
    targets += [*own, *_folder(folder)]
    for run in runs[1:]:
        further, _, _ = _targets(run, "")
        wide = False
        targets += further if run.program == runs[0].program else [f"and {run.program}", *further]
    return Operation(f"{tool} {runs[0].program}", _bounded(targets), wide)


def programs_of(tool: str, arguments: str | Mapping[str, object] | None) -> Iterator[str]:
    """
    Yield the programs that a call runs, each with its subcommand, in order; nothing for a tool that runs no commands.

    Commands that only prepare, such as `cd`, and wrappers such as `sudo` or `timeout 5` are left out.
    """
    command = _command_of(tool, arguments)
    return (run.program for run in islice(_runs(command, 0), _MAX_COMMANDS)) if command else iter(())


def last_command(tool: str, arguments: str | Mapping[str, object] | None) -> tuple[str, ...]:
    """
    Return the words of the last simple command that a call runs, without wrappers; empty if it runs no commands.

    Its exit status is that of the call.
    """
    command = _command_of(tool, arguments)
    if not isinstance(command, str):
        return tuple(_unwrapped([word for word in command[:_MAX_WORDS] if isinstance(word, str)]))
    words: list[str] = []
    for found, _ in _simple_commands(_without_documents(_COMMENT.sub("", command))):
        words = found or words
    return tuple(_unwrapped(words))


def runs_commands(tool: str, arguments: str) -> bool:
    """Tell whether `programs_of` may find a program in a call; where not, that is known at once."""
    return tool.lower() in _SHELL_TOOLS or _NAMES_COMMAND.search(arguments) is not None


def call_fingerprint(tool: str, arguments: str | Mapping[str, object] | None, directory: str = "") -> str:
    """
    Return a short stable hash of a call: equal for calls of one tool with equal arguments in one directory.

    The order of keys in a JSON object does not matter. Where the arguments are unknown it is empty, since then no two
    calls are surely identical.
    """
    if arguments is None or arguments == "":
        return ""
    material = f"{tool}\x1f{_canonical(arguments)}"
    return _hash(f"{material}\x1f{directory}" if directory else material)


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_FINGERPRINT_BYTES).hexdigest()


def _canonical(arguments: str | Mapping[str, object]) -> str:
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


# Targets.


def _covers(mine: tuple[str, ...], other: Operation) -> bool:
    """
    Tell whether a run over `mine` that left nothing out has surely run what `other` runs.
    """
    runner = _RUNNERS_OF_ALL.get(other.name.partition(" ")[2])
    if runner is None or any(target.endswith("/") and target not in other.targets for target in mine):
        return False
    paths = [target for target in mine if not target.endswith("/")]
    inside = [target for target in mine if target.endswith("/")]
    found = False
    for target in other.targets:
        if target in inside:
            continue
        if target.startswith("-"):
            if target.partition(" ")[0] not in runner.narrowing | runner.narrowing_flags:
                return False
        elif target.endswith("/") or not _lies_within(target, paths, inside, runner):
            return False
        else:
            found = True
    return found or not paths


def _lies_within(target: str, paths: list[str], inside: list[str], runner: _Runner) -> bool:
    if not paths:
        return not target.startswith(("/", "..", "~", "$")) or any(map(target.startswith, inside))
    for path in paths:
        if target == path:
            return True
        if runner.patterns:
            if path.endswith("/...") and f"{target}/".startswith(path[:-3]):
                return True
        elif target.startswith((f"{path}/", f"{path}::", f"{path}[")):
            return True
    return False


def _bounded(targets: list[str]) -> tuple[str, ...]:
    """
    Return targets in order, each once; of too many ones the rest as a hash.
    """
    if len(targets) < 2:  # noqa: PLR2004 - nothing to sort
        return tuple(targets)
    found = sorted(set(targets))
    if len(found) <= MAX_TARGETS:
        return tuple(found)
    kept, rest = found[: MAX_TARGETS - 1], found[MAX_TARGETS - 1 :]
    return (*kept, f"and {len(rest)} more {_hash(chr(31).join(rest))}")


def _cleaned(text: str) -> str:
    """
    Return a target in its plain form: a path without `./` and without slash at its end, a URL without credentials.
    """
    if "://" in text:
        text = _CREDENTIALS.sub("://", text.partition("#")[0])
    else:
        if ".." in text or "//" in text or "/./" in text:
            text = posixpath.normpath(text)
        text = text.removeprefix("./")
        if len(text) > 1:
            text = text.rstrip("/") or "/"
    return text if len(text) <= MAX_TARGET else f"{text[: MAX_TARGET - 17]} {_hash(text)}"


_CREDENTIALS: Final = re.compile(r"://[^/@\s]{1,200}@")


def _folder(path: str) -> tuple[str, ...]:
    path = _cleaned(path) if path else ""
    return (f"{path.rstrip('/')}/",) if path and path != "." else ()


_WORD_OF_NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_THINGS: Final = frozenset(
    {
        "account", "address", "alias", "app", "application", "article", "asset", "bank", "booking", "branch",
        "bucket", "calendar", "card", "cell", "channel", "chat", "city", "cluster", "collection", "column", "commit",
        "company", "component", "contact", "container", "contract", "conversation", "country", "coupon", "customer",
        "dashboard", "database", "dataset", "datasource", "db", "deployment", "dest", "destination", "device", "dir",
        "directory", "doc", "document", "domain", "dst", "email", "employee", "endpoint", "entity", "environment",
        "event", "file", "filename", "filepath", "flight", "folder", "from", "group", "guid", "handle", "host",
        "hostname", "href", "iban", "id", "identifier", "image", "index", "instance", "invoice", "isbn", "issue",
        "item", "job", "key", "label", "link", "list", "location", "machine", "member", "milestone", "model",
        "module", "name", "namespace", "node", "notebook", "number", "object", "order", "org", "organization",
        "origin", "owner", "package", "parent", "path", "patient", "payee", "person", "phone", "pid", "pipeline",
        "place", "playlist", "plugin", "pod", "policy", "port", "post", "process", "product", "profile", "project",
        "pull", "queue", "receiver", "recipient", "record", "ref", "region", "release", "repo", "repository",
        "reservation", "resource", "room", "route", "row", "run", "schema", "sender", "sensor", "server", "service",
        "session", "sha", "sheet", "shipment", "shop", "site", "sku", "slug", "source", "src", "stack", "station",
        "store", "subject", "subscription", "supplier", "symbol", "table", "tag", "task", "team", "tenant",
        "terminal", "test", "thread", "ticker", "ticket", "title", "to", "topic", "track", "transaction", "upload",
        "uri", "url", "user", "username", "uuid", "vendor", "video", "view", "volume", "warehouse", "website",
        "worker", "workflow", "workspace", "zone",
    }
)  # fmt: skip
"""Nouns that name a thing where they are the last word of an argument's name."""

_SECRETS: Final = frozenset({"api", "secret", "access", "private", "auth", "encryption", "signing"})
"""Words before `key` or `id` that make it a secret."""

_DIRECTIONS: Final = frozenset(
    {"from", "to", "source", "src", "destination", "dest", "dst", "origin", "old", "new", "base", "head", "sender",
     "recipient", "receiver"}
)  # fmt: skip
"""Words of arguments that two things may be swapped between."""

_SESSIONS: Final = frozenset({"session", "terminal", "process", "pid", "tty", "pane", "window", "shell", "job", "tab"})
"""Words for what a command runs in, where a tool holds several."""

_FOLDERS: Final = ("workdir", "cwd", "working_directory", "workingDirectory", "directory", "dir_path", "work_dir")
_SQL_ARGUMENTS: Final = frozenset({"query", "sql", "statement", "queries", "statements"})
_ACTIONS: Final = ("action", "operation", "method", "subcommand")
_ACTION: Final = re.compile(r"[A-Za-z][\w-]{0,30}\Z")
_SQL: Final = re.compile(
    r"\s{0,100}(?:select|insert\s+into|update|delete\s+from|with|create|alter|drop|truncate|merge\s+into|replace\s+into"
    r"|describe|explain|show|pragma)\b",
    re.IGNORECASE,
)
_TABLE: Final = re.compile(
    r"\b(?:from|join|into|update|table|describe|truncate)\s{1,20}(?:(?:if\s{1,9}(?:not\s{1,9})?exists|only|table)\s{1,9})?"
    r"([A-Za-z_\"`\[][\w.\"`\[\]$]{0,120})",
    re.IGNORECASE,
)
_COMMON_TABLE: Final = re.compile(r"\b(\w{1,60})\s{1,9}as\s{0,9}\(", re.IGNORECASE)
_NO_TABLES: Final = frozenset({"select", "set", "lateral", "unnest", "values", "where", "table", "if", "only"})
_QUOTES_OF_TABLE: Final = str.maketrans("", "", '"`[]')


@lru_cache(maxsize=1_024)
def _role_of(name: str) -> str:
    """
    Tell what an argument of this name holds: a thing, a thing in a direction, SQL, or nothing that is a target.
    """
    if name.lower() in _SQL_ARGUMENTS:
        return "sql"
    words = [word.lower() for word in _WORD_OF_NAME.findall(name)]
    if not words:
        return ""
    last = words[-1]
    singular = last.removesuffix("s") if last not in _THINGS else last
    if last.endswith(("ies", "sses", "xes", "ches")):
        singular = f"{last[:-3]}y" if last.endswith("ies") else last[:-2]
    if singular not in _THINGS or (singular in {"key", "id"} and not _SECRETS.isdisjoint(words[:-1])):
        return ""
    return "thing" if _DIRECTIONS.isdisjoint(words) else "direction"


@lru_cache(maxsize=1_024)
def _is_session(name: str) -> bool:
    return any(word.lower() in _SESSIONS for word in _WORD_OF_NAME.findall(name))


def _sessions(arguments: Mapping[str, object]) -> Iterator[str]:
    for name, value in islice(arguments.items(), _MAX_FIELDS):
        if _is_session(name) and value is not None and not isinstance(value, bool) and isinstance(value, (str, int)):
            yield f"{name}={value}"[:MAX_TARGET]


def _named(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """
    Return what arguments are about, by their names.
    """
    found: list[str] = []
    directed: list[tuple[str, str]] = []
    _collect(arguments.items(), found, directed)
    if not found and not directed:
        _collect(_fields_below(arguments), found, directed)
    for name, text in directed:
        found.append(f"{name}={text}" if len(directed) > 1 else text)
    return _bounded(found)


def _fields_below(arguments: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """
    Yield the fields of objects, and of those in lists, one level below the top.
    """
    for value in islice(arguments.values(), _MAX_FIELDS):
        below = cast("Sequence[object]", value) if type(value) in {list, tuple} else (value,)
        for entry in below[:_MAX_FIELDS]:
            if isinstance(entry, dict):
                yield from cast("dict[str, object]", entry).items()


def _collect(fields: Iterable[tuple[str, object]], found: list[str], directed: list[tuple[str, str]]) -> None:
    for name, value in islice(fields, _MAX_FIELDS):
        role = _role_of(name) if value is not None and type(name) is str and len(name) <= MAX_TARGET else ""
        if not role:
            continue
        if role == "sql":
            found.extend(_tables(value) if isinstance(value, str) else ())
            continue
        values = cast("Sequence[object]", value) if type(value) in {list, tuple} else (value,)
        for text in filter(None, map(_scalar, values[:_MAX_FIELDS])):
            if role == "direction":
                directed.append((name, text))
            else:
                found.append(text)


def _scalar(value: object) -> str:
    """
    Return a name, a path, a URL or a number as a target; empty for free text and everything else.
    """
    if isinstance(value, str):
        if len(value) > MAX_FREE or "\n" in value:
            return ""
        value = value.strip()
        return _cleaned(value) if value else ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) < 1e18 else ""  # noqa: PLR2004 - no id is longer
    return ""


MAX_FREE: Final = 1_000
"""Characters beyond which the value of an argument is free text, whatever its name."""


def _tables(text: str) -> list[str]:
    """
    Return the tables that a statement in SQL names; none of a text that is no SQL.
    """
    if not _SQL.match(text):
        return []
    text = text[:MAX_COMMAND]
    own = {name.lower() for name in _COMMON_TABLE.findall(text)} | _NO_TABLES
    names = (name.translate(_QUOTES_OF_TABLE).lower() for name in _TABLE.findall(text))
    return list(dict.fromkeys(name for name in names if name and name not in own))


def _targets(run: _Run, folder: str) -> tuple[list[str], str, bool]:  # noqa: C901 - one loop over the words
    """
    Return what a program is about, the folder it works in, and whether it surely leaves nothing out.
    """
    runner = _RUNNERS_OF_ALL.get(run.program)
    if runner is not None:
        return _targets_of_runner(runner, run, folder)
    found: list[str] = []
    folders = [folder, *run.folders]
    name = run.program.partition(" ")[0]
    scoping, texts = _SCOPING_LETTERS.get(name, _NONE), _TEXT_LETTERS.get(name, _NONE)
    skip_script = name in _WITH_SCRIPT and "-e" not in run.words
    words = iter(run.words)
    after_option = False
    for word in words:
        if word.startswith("-") and len(word) > 1:
            option, has_value, value = word.partition("=")
            after_option = not has_value
            if option in texts or option in _TEXT_OPTIONS:
                if not has_value:
                    next(words, "")
            elif option in _FOLDER_OPTIONS and name not in _WITH_SCRIPT:
                folders.append(value if has_value else next(words, ""))
            elif option in scoping or option in _SCOPING_OPTIONS or (word.startswith("-D") and has_value):
                value = value if has_value else next(words, "")
                found.append(f"{option} {value}"[:MAX_TARGET])
            continue
        if after_option and word.isdigit():
            continue
        after_option = False
        if skip_script:
            skip_script = False
        elif text := _word(word):
            found.extend(text)
    return found, _joined(folders), False


_NONE: Final = frozenset[str]()


def _word(word: str) -> list[str]:
    """
    Return what a word of a command names; nothing for free text and for the folder itself.
    """
    if " " in word and (tables := _tables(word)):
        return tables
    if len(word) > MAX_TARGET or "\n" in word:
        return []
    text = _cleaned(word.strip())
    return [text] if text and text != "." else []


def _targets_of_runner(runner: _Runner, run: _Run, folder: str) -> tuple[list[str], str, bool]:
    """
    As `_targets`, of a program whose options are known: an unknown one is a target, since it may leave things out.
    """
    found: list[str] = []
    words = iter(run.words)
    wide, given = True, False
    for word in words:
        if word.startswith("-") and len(word) > 1:
            option, has_value, value = word.partition("=")
            if word == "--" or word in runner.harmless or option in runner.harmless or option in runner.with_value:
                if not has_value and option in runner.with_value:
                    next(words, "")
                continue
            wide = False
            if option in runner.narrowing:
                value = value if has_value else next(words, "")
                found.append(f"{option} {value}"[:MAX_TARGET])
            else:
                found.append(word[:MAX_TARGET])
        elif word in runner.everything:
            given = True
        else:
            given = True
            found.append(_cleaned(word))
    if not given and runner.bare:
        found.append(runner.bare)
        wide = False
    if runner.needs_target and not given:
        wide = False
    return found, _joined([folder, *run.folders]), wide and len(found) < MAX_TARGETS


def _joined(folders: list[str]) -> str:
    found = ""
    for folder in folders:
        if folder:
            found = folder if folder.startswith(("/", "~", "$")) or not found else f"{found}/{folder}"
    return found


# Commands.


class _Run(NamedTuple):
    """
    A program that a command line runs.
    """

    program: str
    """The program with its subcommand."""
    words: list[str] = []  # noqa: RUF012 - never changed
    """What follows."""
    folders: tuple[str, ...] = ()
    """The folders it was changed to before."""
    piped: bool = False
    """Whether it reads what another program writes."""


def _command_of(tool: str, arguments: str | Mapping[str, object] | None) -> str | Sequence[object]:
    """
    Return the command line or argument vector of a call; empty for a tool that runs no commands.
    """
    if isinstance(arguments, str):
        if not _NAMES_COMMAND.search(arguments):
            is_command = tool.lower() in _SHELL_TOOLS and not arguments.lstrip().startswith("{")
            return arguments[:MAX_COMMAND] if is_command else ""
        arguments = cast("Mapping[str, object] | None", _parsed(arguments))
    return _command_in(arguments) if isinstance(arguments, Mapping) else ""


def _command_in(arguments: Mapping[str, object]) -> str | Sequence[object]:
    command = next((arguments[name] for name in _COMMAND_ARGUMENTS if name in arguments), "")
    if isinstance(command, str):
        return command[:MAX_COMMAND]
    return cast("Sequence[object]", command) if isinstance(command, (list, tuple)) else ""


def _runs(command: str | Sequence[object], nesting: int) -> Iterator[_Run]:
    if not isinstance(command, str):
        yield from _run([word for word in command[:_MAX_WORDS] if isinstance(word, str)], nesting)
        return
    folders: tuple[str, ...] = ()
    for words, piped in _simple_commands(_without_documents(_COMMENT.sub("", command))):
        if words and words[0] in _CHANGING_FOLDER:
            folders = (*folders, *words[1:2])[-_MAX_FIELDS:]
            continue
        for run in _run(words, nesting):
            yield run._replace(folders=(*folders, *run.folders), piped=piped) if folders or piped else run


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


def _simple_commands(line: str) -> Iterator[tuple[list[str], bool]]:
    """
    Split a command line into its simple commands: words without quotes and redirections, and whether a pipe feeds them.

    `cat` into a file only writes that file, and yields nothing.
    """
    words: list[str] = []
    is_target = writes = False
    between = ""
    for token in _TOKEN.finditer(line):
        if token.lastgroup == "end":
            if words:
                yield [] if writes and words[:1] == ["cat"] else words, between == "|"
                between = ""
            between += token[0]
            words, writes = [], False
        elif token.lastgroup == "redirect":
            is_target = not token[0].endswith("-")
            writes = writes or token[0].startswith(">")
        elif is_target:
            is_target = False
        elif len(words) < _MAX_WORDS:
            words.append(_QUOTED.sub(_unquoted, token[0]))
    yield [] if writes and words[:1] == ["cat"] else words, between == "|"


def _unquoted(quoted: re.Match[str]) -> str:
    return next((text for text in quoted.groups() if text is not None), "")


def _run(words: list[str], nesting: int) -> Iterator[_Run]:
    """
    Yield what one simple command runs: nothing, a program, or those of the script behind `sh -c`.
    """
    words = _unwrapped(words)
    if not words or words[0] in _PREPARING:
        return
    name, rest = _final_name(words[0]), words[1:]
    if name in _SHELLS and nesting < _MAX_NESTING and len(rest) > 1 and re.fullmatch(r"-[a-z]*c", rest[0]):
        yield from _runs(rest[1], nesting + 1)
    elif _PYTHON.match(name):
        yield _script("python", rest, module_option="-m")
    elif name in _INTERPRETERS or name in _SHELLS:
        yield _script(name, rest)
    elif name in _WITH_SUBCOMMAND:
        yield _with_subcommand(name, rest)
    elif name in _WITH_ONE_OF or name in _SESSION_OPTIONS:
        yield _with_known_subcommand(name, rest)
    elif name:
        yield _Run(name, rest)


def _unwrapped(words: list[str]) -> list[str]:
    """
    Drop keywords, assignments and wrapping programs in front of the program that matters.
    """
    while words:
        name = _final_name(words[0])
        if words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif name == "command" and words[1:2] in (["-v"], ["-V"]):
            break
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


def _script(name: str, words: list[str], module_option: str = "") -> _Run:
    """
    Return what an interpreter runs: a module, a script by its final name, or the option that brings code.

    Code has no target: what it is about is not known.
    """
    for at, (word, following) in enumerate(pairwise([*words, ""])):
        if word == module_option:
            return _Run(f"{name} {word} {following}", words[at + 2 :])
        if word in {"-c", "-e", "-"}:
            return _Run(f"{name} {word}")
        if not word.startswith("-"):
            script = _final_name(word)
            place = [word] if "/" in word.removeprefix("./") else []
            if script == "manage.py":
                return _Run(f"{name} {script} {following}", [*place, *words[at + 2 :]])
            return _Run(f"{name} {script}", [*place, *words[at + 1 :]])
    return _Run(name)


def _with_subcommand(name: str, words: list[str]) -> _Run:
    """
    Return a program with its subcommand, which options may stand before.
    """
    if name == "yarn" and words[:1] == ["workspace"]:
        words = [f"--workspace={''.join(words[1:2])}", *words[2:]]
    found, rest, at = name, list[str](), 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("-"):
            rest.append(word)
            if at < len(words) and _takes_value(name, word, words[at]):
                rest[-1] = f"{word}={words[at]}"
                at += 1
        elif not _SUBCOMMAND.match(word):
            rest.append(word)
        else:
            found = f"{found} {word}"
            if found not in _WITH_TWO_SUBCOMMANDS:
                break
    return _Run(found, [*rest, *words[at:]])


def _takes_value(name: str, option: str, following: str) -> bool:
    """
    Tell whether the word after an option is its value, and no subcommand.

    Of an option that nothing is known of it is the value, unless it is a word that is a subcommand of many programs.
    """
    if "=" in option or following.startswith("-"):
        return False
    if option in _OPTIONS_WITH_VALUE or option in _SCOPING_LETTERS.get(name, _NONE):
        return True
    if option in _TEXT_LETTERS.get(name, _NONE) or option in _SCOPING_OPTIONS or option in _TEXT_OPTIONS:
        return True
    return option.startswith("--") and not (
        option in _FLAGS or option.startswith("--no-") or following in _VERBS or option == "--"
    )


def _with_known_subcommand(name: str, words: list[str]) -> _Run:
    """
    Return a program with its subcommand, if the first word is one, or with the task that an option names.
    """
    options = _SESSION_OPTIONS.get(name, _NONE)
    found, rest = name, list[str]()
    known = _WITH_ONE_OF.get(name, _NONE)
    for word, following in pairwise([*words, ""]):
        option, has_value, value = word.partition("=")
        if option in options and (has_value or following):
            return _Run(f"{found} {option} {value if has_value else following}", [])
    for at, word in enumerate(words):
        if word in known:
            return _Run(f"{found} {word}", [*rest, *words[at + 1 :]])
        if not word.startswith("-"):
            return _Run(found, [*rest, *words[at:]])
        rest.append(word)
    return _Run(found, rest)


_OPTIONS_WITH_VALUE: Final = frozenset(
    {
        "-C", "-c", "-f", "-n", "-H", "-j", "--prefix", "--directory", "--project", "--namespace", "--context",
        "--git-dir", "--work-tree", "--manifest-path", "--file", "--cwd", "--profile", "--region", "--dir", "--chdir",
    }
)  # fmt: skip


def _final_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".exe")
