"""What npm, pnpm and Yarn say when they cannot install or run something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Rules,
    Text,
    find,
    find_all,
    find_blocks,
    form,
)
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING_SCRIPT: Final = "MissingScript"

_MAX_LINES: Final = 400
_MAX_DETAILS: Final = 4
_MIN_BROKEN: Final = 40
"""Characters of a line that npm has broken to fit a terminal."""


_NPM: Final = form(r"npm (?:ERR!|error)(?: (?P<said>.*))?$")
_NOISE: Final = form(
    r"(?:A complete log of this run|For a full report see|To see a list of scripts|This is (?:related to|probably not"
    r"|a problem)|In most cases you or one|Note that you can also|tarball, folder|or use --force|Usage:|Clean install"
    r"|See [`']npm|Run \"npm help|It is likely you do not|Fix the upstream dependency conflict"
    r"|this command with --force|to accept an|If you (?:believe|still need)|Note that in CI|Failed to parse JSON data"
    r"|Note: package\.json must|If you are behind a proxy|'proxy' config|The operation was rejected by your|[}\]]$"
    r"|\w{4,8}: (?:-?{number}|'[^']{0,300}'),?$|\[Error: |not with npm itself|/\S+-report\.txt$|/\S+\.log$"
    r"|[A-Z]:\\\S+\.log$|Did you mean (?:one of )?th|Options:|\[-)"
)
_FIELD: Final = form(r"(?P<name>code|errno|syscall|path|workspace|location|command) (?P<value>.+)$")
_TOPIC: Final = form(
    r"^(?:404|notarget|enoent|engine|notsup|eresolve|ERESOLVE|JSON\.parse|audit|network|peerinvalid|gitlab|git dep"
    r"|shasum|bundled|dest|cwd|node-gyp|nospc|eisgit|EUSAGE|E[A-Z0-9]{3,10}) +(?=\S)"
)
_MISSING_SCRIPT: Final = form(r"[Mm]issing script:? \"?(?P<script>[^\"\s]{1,200})\"?")
_SUGGESTED: Final = form(r"npm (?:run |start|test)\S*.{0,100}? # ")
_FOUND: Final = form(r"Found: (?P<package>{word})")
_WANTED: Final = form(r"(?:(?:peer|dev|optional|peerOptional) )?{word}@{quoted} from (?:the root project|{word})$")
_RESOLVING: Final = "Could not resolve dependency:"
_CONFLICTING: Final = "Conflicting peer dependency: "
_REQUESTED: Final = "The requested resource "
_LIFECYCLE: Final = form(r"(?:Lifecycle script|command failed|Failed at the|ELIFECYCLE|\S+@\S+ \w+: `)")
_SCRIPT: Final = form(r"{word}@\S{1,60} \S{1,60}: `")
_BANNER: Final = form(r"> (?:{word}@\S{1,60} )?(?P<script>[\w:.-]{1,100})(?: /.{1,300})?$")

_PNPM: Final = form(r"\s{0,2}(?:\[ERROR\] |\u2009)?(?P<code>ERR_PNPM_[A-Z0-9_]{1,80})\s+(?P<said>.*)")
_PNPM_LIFECYCLE: Final = form(r"\s{0,2}ELIFECYCLE\s+(?P<said>(?:Command|Test) failed.*)")

_YARN: Final = form(r"error (?P<said>\S.*)")
_YARN_FAILED: Final = form(r"Command failed with (?P<how>exit code {number}|signal \S{1,20})")
_YARN_NO_COMMAND: Final = form(r"Command \"(?P<script>[^\"]{1,200})\" not found")
_BERRY: Final = form(r"\u27a4 (?P<code>YN0[0-9]{3}): (?:[\u2502\u2514\u250c] )?(?P<said>.*)")
_BERRY_SILENT: Final = frozenset(
    {"YN0000", "YN0002", "YN0004", "YN0005", "YN0007", "YN0013", "YN0019", "YN0085", "YN0086"}
)
_BERRY_USAGE: Final = Rules(r"""
MissingScript  (?:Internal |Usage )Error: (?P<message>.*script named.*)
UsageError     (?:Internal |Usage )Error: (?P<message>.*(?:workspace|package|lockfile).*)
""")
_EXIT: Final = form(r"exit (?:code|status) {number}|signal \S{1,20}")


def read(text: Text) -> Facts | None:
    """Return the facts of what a package manager says; of a script that failed, those of the script's own output."""
    found = (read(text.lines) for marker, read in _READERS if marker in text.body)
    return next(filter(None, found), None)


def _build_facts(kind: str, cause: str, lines: Lines = (), place: Location = NOWHERE) -> Facts:
    return Facts(type=kind, cause=clip(cause), location=place, details=details(lines, _MAX_DETAILS))


def _read_script(lines: Lines, failed: str) -> Facts | None:
    # Return what a script said before its package manager reported that it had failed.
    start = max((number for number, line in enumerate(lines) if line.startswith(("> ", "$ "))), default=-1)
    banner = find(_BANNER, lines[: start + 1])
    script = f"script `{banner['script']}`: " if banner else ""
    output = [line for line in lines[start + 1 :] if line.strip()]
    if not output:
        return None
    facts = facts_of_output(output[-_MAX_LINES:])
    if facts is None:
        return _build_facts("exit" if not failed else _find_exit(failed), output[-1], (f"{script}{failed}",))
    at = next((number for number, line in enumerate(output) if facts.cause in line), 0)
    chatter = {line.strip() for line in output[:at]}
    kept = [line for line in facts.details if line not in chatter]
    return replace(facts, details=details((*kept[:_MAX_DETAILS], f"{script}{failed}")))


def _find_exit(failed: str) -> str:
    found = _EXIT.search(failed)
    return found[0] if found else "ELIFECYCLE"


# --- npm -------------------------------------------------------------------------------------------------------------


def _read_npm(lines: Lines) -> Facts | None:
    said = [
        (number, found["said"] or "")
        for number, line in enumerate(lines)
        if line[:4] == "npm " and (found := _NPM.match(line))
    ]
    if not said:
        return None
    first = said[0][0]
    fields: dict[str, str] = {}
    words: list[str] = []
    for _, line in said[:_MAX_LINES]:
        if line.startswith(("Usage:", "Options:")):
            break
        field = _FIELD.match(line)
        if field is not None and line != "command failed":
            fields.setdefault(field["name"], field["value"])
        else:
            words.append(line.strip())
    return _script_missing(words) or _failed_script(lines[:first], fields, words) or _npm_error(fields, words)


def _script_missing(words: Lines) -> Facts | None:
    found = find(_MISSING_SCRIPT, words)
    if found is None:
        return None
    suggested = (line.strip() for line in words if _SUGGESTED.match(line.strip()))
    return _build_facts(MISSING_SCRIPT, f'Missing script: "{found["script"]}"', [*suggested][:2])


def _failed_script(before: Lines, fields: dict[str, str], words: Lines) -> Facts | None:
    code = fields.get("code", "")
    if not (code.isdecimal() or code == "ELIFECYCLE" or any(map(_LIFECYCLE.match, words))):
        return None
    command = fields.get("command", "").removeprefix("sh -c ").strip()
    status = (
        f"exit code {code}"
        if code.isdecimal()
        else next((found[0] for line in words if (found := _EXIT.search(line.lower()))), "failed")
    )
    named = next((line for line in words if _SCRIPT.match(line)), "")
    path = fields.get("workspace", "") or fields.get("path", "")
    failed = ": ".join(filter(None, (status, command))) + (f" in {path}" if path else "")
    repeated = [
        line.removeprefix("gyp ERR! ").removeprefix("stack ") for line in words if line and not _LIFECYCLE.match(line)
    ]
    own = [line for line in repeated if not (_NOISE.match(line) or _EXIT.match(line.lower()))]
    return (
        _read_script(before, failed)
        or _read_script(own, failed)
        or _build_facts(status, f"script failed: {command or named}", (path,))
    )


def _npm_error(fields: dict[str, str], words: Lines) -> Facts:
    code = fields.get("code", "") or "NpmError"
    if code == "ERESOLVE":
        return _read_conflict(words)
    telling: dict[str, None] = {}
    for line in (_TOPIC.sub("", word.strip()).strip() for word in words):
        if line and not _NOISE.match(line) and line.lower() not in {"404", "enoent", code.lower()}:
            telling.setdefault(line)
    said = _find_sentences([*telling])
    if not said:
        return _build_facts(code, " ".join(filter(None, (fields.get("syscall"), fields.get("path")))) or code)
    said.sort(key=lambda line: not line.startswith(_REQUESTED))
    cause, others = said[0].removeprefix(_REQUESTED), said[1:]
    if others and cause == "Unsupported engine":
        cause, others = ", ".join(others), []
    return _build_facts(code, cause.removeprefix(f"{code}: "), others)


def _find_sentences(lines: list[str]) -> list[str]:
    # Join lines that npm has broken to fit a terminal: what goes on in lower case behind a line without an end.
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1][-1:] not in ".:;" and line[:1].islower() and len(joined[-1]) > _MIN_BROKEN:
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    return joined


def _read_conflict(words: Lines) -> Facts:
    # Read a conflict of versions: what is there, and who wants something else.
    stripped = [_TOPIC.sub("", line.strip()) for line in words]
    found = next((match["package"] for line in stripped if (match := _FOUND.match(line))), "")
    start = stripped.index(_RESOLVING) + 1 if _RESOLVING in stripped else len(stripped)
    wanted = next((line for line in stripped[start:] if _WANTED.match(line)), "")
    conflicting = next((line.removeprefix(_CONFLICTING) for line in stripped if line.startswith(_CONFLICTING)), "")
    resolving = next((line for line in stripped if line.startswith("While resolving: ")), "")
    holders = [line for line in stripped[:start] if _WANTED.match(line)]
    against = found or conflicting
    if not wanted or not against:
        return _build_facts("ERESOLVE", next(filter(None, stripped), "unable to resolve dependency tree"), (resolving,))
    return _build_facts("ERESOLVE", f"{wanted} conflicts with {against}", (*holders[:2], resolving.lower()))


# --- pnpm and Yarn ---------------------------------------------------------------------------------------------------


def _build_missing_script(found: Found, lines: Lines) -> Facts:
    suggested = [line for line in lines if "Did you mean" in line]
    return _build_facts(MISSING_SCRIPT, f'Missing script: "{found["script"]}"', suggested)


def _read_pnpm(lines: Lines) -> Facts | None:
    block = next(find_blocks(lines, _PNPM), None)
    if block is None:
        return None
    code, said = block.head["code"], block.head["said"].strip()
    if "LIFECYCLE" in code or code == "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL":
        return _read_script(lines[: block.start], said) or _build_facts(code, said)
    missing = _MISSING_SCRIPT.match(said)
    others = [other.strip() for other in lines[block.start + 1 :] if other.strip() and not _NOISE.match(other.strip())]
    return _build_missing_script(missing, others) if missing is not None else _build_facts(code, said, others)


def _pnpm_script(lines: Lines) -> Facts | None:
    block = next(find_blocks(lines, _PNPM_LIFECYCLE), None)
    return _read_failed(lines[: block.start], block.head["said"].rstrip(".")) if block else None


def _read_failed(before: Lines, said: str) -> Facts:
    return _read_script(before, said.rstrip(".")) or _build_facts(_find_exit(said), said)


def _read_yarn(lines: Lines) -> Facts | None:
    block = next(find_blocks(lines, _YARN), None)
    if block is None:
        return None
    said = block.head["said"]
    missing = _YARN_NO_COMMAND.match(said)
    if missing is not None:
        return _build_missing_script(missing, lines[block.start + 1 :])
    return _read_failed(lines[: block.start], said) if _YARN_FAILED.match(said) else _build_facts("YarnError", said)


def _read_berry(lines: Lines) -> Facts | None:
    telling = [found for found in find_all(_BERRY, lines) if found["code"] not in _BERRY_SILENT and found["said"]]
    if not telling:
        return None
    return _build_facts(telling[0]["code"], telling[0]["said"], [found["said"] for found in telling[1:]])


_READERS: Final[tuple[tuple[str, Callable[[Lines], Facts | None]], ...]] = (
    ("npm ", _read_npm),
    ("ERR_PNPM_", _read_pnpm),
    ("ELIFECYCLE", _pnpm_script),
    ("yarnpkg.com/", _read_yarn),
    ("\u27a4 YN0", _read_berry),
    ("Usage Error: ", _BERRY_USAGE.find),
)

FORMAT: Final = Format(
    name="npm",
    read=read,
    markers=("npm ERR!", "npm error", "ERR_PNPM_", "ELIFECYCLE", "yarnpkg.com/", "\u27a4 YN0", "Usage Error: "),
    margins=(r"npm (?:error|ERR!)",),
    notes=(r"npm (?=(?:info|notice|warn|http|verb|sill)\b)",),
    commands=(
        Command("npm", subcommands="*", scopes="-w", speaks="npm", runs_any=True),
        Command("pnpm", subcommands="*", scopes="-F", runs_any=True),
        Command("yarn", subcommands="*", scope="workspace", runs_any=True),
        Command("bun", prints="npm javascript testrunners", subcommands="*", runs_any=True),
        Command("bun test", prints="mocha"),
        Command("lerna", subcommands="*", runs_any=True),
        Command("nx", subcommands="*", scopes="-p -t", runs_any=True),
        Command("turbo", prints="npm bundlers", subcommands="*", scopes="-F", runs_any=True),
        Command("rush", subcommands="*"),
        Command("npm run, npm run-script, pnpm run, yarn run, bun run", subcommands="*"),
        Command("lerna run, nx run, turbo run, rush run", subcommands="*"),
        Command("npm exec, pnpm exec, pnpm dlx, yarn dlx", wraps=True),
        Command("npx", wraps=True, values="-p --package", speaks="npx", runs_any=True),
        Command("bunx", wraps=True),
        Command("husky"),
    ),
    closings=(
        r"➤ YN[0-9]{4}: [^\n]{0,100}(?:Error|[Ff]ailed|✘)",
        r" {1,4}ERROR {2}\S",
        r"error (?:Command \"[^\"\n]{1,100}\" not found|Couldn.t |An unexpected error|Package )",
        r"(?:lerna ERR! | NX   Running target |Failed:    \S)",
        r" ERROR  (?:run failed|[^\n]{1,80} command finished with error)",
        r"error: script \"[^\"\n]{1,100}\" (?:exited|was)",
        r"husky - [\w-]{1,40} (?:hook|script) [^\n]{0,40}(?:exited|failed)",
        r"\s?ELIFECYCLE\s+(?:Command|Test) failed",
        r"error Command failed with (?:exit code|signal) ",
        r"npm (?:ERR!|error) ",
        r"\s?ERR_PNPM_[A-Z0-9_]{1,60}\s+\S",
    ),
)
