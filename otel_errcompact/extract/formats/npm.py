"""What npm, pnpm and Yarn say when they cannot install or run something."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from otel_errcompact.extract.text import Text


MISSING_SCRIPT: Final = "MissingScript"

_MAX_LINES: Final = 400
_MAX_DETAILS: Final = 4
_MIN_BROKEN: Final = 40
"""Characters of a line that npm has broken to fit a terminal."""


_NPM: Final = lazy_pattern(r"npm (?:ERR!|error)(?: (?P<said>.*))?$")
_NOISE: Final = lazy_pattern(
    r"(?:A complete log of this run|For a full report see|To see a list of scripts"
    r"|This is (?:related to|probably not|a problem)|In most cases you or one|Note that you can also"
    r"|tarball, folder|or use --force|Usage:|Clean install|See [`']npm"
    r"|Run \"npm help|It is likely you do not|Fix the upstream dependency conflict|this command with --force"
    r"|to accept an|If you (?:believe|still need)|Note that in CI|Failed to parse JSON data|Note: package\.json must"
    r"|If you are behind a proxy|'proxy' config|The operation was rejected by your|[}\]]$"
    r"|\w{4,8}: (?:-?[0-9]{1,5}|'[^']{0,300}'),?$|\[Error: "
    r"|not with npm itself|/\S+-report\.txt$|/\S+\.log$|[A-Z]:\\\S+\.log$|Did you mean (?:one of )?th|Options:|\[-)"
)
_FIELD: Final = lazy_pattern(r"(?P<name>code|errno|syscall|path|workspace|location|command) (?P<value>.+)$")
_TOPIC: Final = lazy_pattern(
    r"^(?:404|notarget|enoent|engine|notsup|eresolve|ERESOLVE|JSON\.parse|audit|network|peerinvalid|gitlab|git dep"
    r"|shasum|bundled|dest|cwd|node-gyp|nospc|eisgit|EUSAGE|E[A-Z0-9]{3,10}) +(?=\S)"
)
_MISSING_SCRIPT: Final = lazy_pattern(r"[Mm]issing script:? \"?(?P<script>[^\"\s]{1,200})\"?")
_SUGGESTED: Final = lazy_pattern(r"npm (?:run |start|test)\S*.{0,100}? # ")
_FOUND: Final = lazy_pattern(r"Found: (?P<package>\S{1,200})")
_WANTED: Final = lazy_pattern(
    r"(?:(?:peer|dev|optional|peerOptional) )?\S{1,200}@\"[^\"]{1,200}\" from (?:the root project|\S{1,200})$"
)
_RESOLVING: Final = "Could not resolve dependency:"
_CONFLICTING: Final = "Conflicting peer dependency: "
_REQUESTED: Final = "The requested resource "
_LIFECYCLE: Final = lazy_pattern(r"(?:Lifecycle script|command failed|Failed at the|ELIFECYCLE|\S+@\S+ \w+: `)")
_SCRIPT: Final = lazy_pattern(r"\S{1,200}@\S{1,60} \S{1,60}: `")
_BANNER: Final = lazy_pattern(r"> (?:\S{1,200}@\S{1,60} )?(?P<script>[\w:.-]{1,100})(?: /.{1,300})?$")

_PNPM: Final = lazy_pattern(r"\s{0,2}(?:\[ERROR\] |\u2009)?(?P<code>ERR_PNPM_[A-Z0-9_]{1,80})\s+(?P<said>.*)")
_PNPM_LIFECYCLE: Final = lazy_pattern(r"\s{0,2}ELIFECYCLE\s+(?P<said>(?:Command|Test) failed.*)")

_YARN: Final = lazy_pattern(r"error (?P<said>\S.*)")
_YARN_FAILED: Final = lazy_pattern(r"Command failed with (?P<how>exit code [0-9]{1,6}|signal \S{1,20})")
_YARN_NO_COMMAND: Final = lazy_pattern(r"Command \"(?P<script>[^\"]{1,200})\" not found")
_BERRY: Final = lazy_pattern(r"\u27a4 (?P<code>YN0[0-9]{3}): (?:[\u2502\u2514\u250c] )?(?P<said>.*)")
_BERRY_SILENT: Final = frozenset(
    {"YN0000", "YN0002", "YN0004", "YN0005", "YN0007", "YN0013", "YN0019", "YN0085", "YN0086"}
)
_BERRY_USAGE: Final = lazy_pattern(r"(?:Internal |Usage )Error: (?P<said>.{1,500})")
_EXIT: Final = lazy_pattern(r"exit (?:code|status) [0-9]{1,6}|signal \S{1,20}")


class _Reader(NamedTuple):
    """How the words of one package manager are read."""

    marker: str
    read: Callable[[Sequence[str]], Facts | None]


def read(text: Text) -> Facts | None:
    """Return the facts of what a package manager says; of a script that failed, those of the script's own output."""
    lines = text.lines
    found = (reader.read(lines) for reader in _READERS if reader.marker in text.body)
    return next((facts for facts in found if facts is not None), None)


def _facts(kind: str, cause: str, lines: Sequence[str] = (), place: Location = NOWHERE) -> Facts:
    return Facts(type=kind, cause=clip(cause), location=place, details=details(lines, _MAX_DETAILS))


def _read_script(lines: Sequence[str], failed: str) -> Facts | None:
    """
    Return what a script said before its package manager reported that it had failed.

    Args:
        lines: The output up to that report.
        failed: What is reported, in one line.
    """
    start = max((number for number, line in enumerate(lines) if line.startswith(("> ", "$ "))), default=-1)
    banner = next((found for line in lines[: start + 1] if (found := _BANNER.match(line))), None)
    script = f"script `{banner['script']}`: " if banner else ""
    output = [line for line in lines[start + 1 :] if line.strip()]
    if not output:
        return None
    facts = facts_of_output(output[-_MAX_LINES:])
    if facts is None:
        return _facts("exit" if not failed else _exit(failed), output[-1], (f"{script}{failed}",))
    at = next((number for number, line in enumerate(output) if facts.cause in line), 0)
    chatter = {line.strip() for line in output[:at]}
    kept = [line for line in facts.details if line not in chatter]
    return replace(facts, details=details((*kept[:_MAX_DETAILS], f"{script}{failed}")))


def _exit(failed: str) -> str:
    found = _EXIT.search(failed)
    return found[0] if found else "ELIFECYCLE"


# --- npm -------------------------------------------------------------------------------------------------------------


def _npm(lines: Sequence[str]) -> Facts | None:
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


def _script_missing(words: Sequence[str]) -> Facts | None:
    found = next((found for line in words if (found := _MISSING_SCRIPT.match(line))), None)
    if found is None:
        return None
    suggested = (line.strip() for line in words if _SUGGESTED.match(line.strip()))
    return _facts(MISSING_SCRIPT, f'Missing script: "{found["script"]}"', [*suggested][:2])


def _failed_script(before: Sequence[str], fields: dict[str, str], words: Sequence[str]) -> Facts | None:
    """Read the failure of a script, whose own output stands above, or in what npm repeats of it."""
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
        or _facts(status, f"script failed: {command or named}", (path,))
    )


def _npm_error(fields: dict[str, str], words: Sequence[str]) -> Facts:
    code = fields.get("code", "") or "NpmError"
    if code == "ERESOLVE":
        return _conflict(words)
    telling: dict[str, None] = {}
    for line in (_TOPIC.sub("", word.strip()).strip() for word in words):
        if line and not _NOISE.match(line) and line.lower() not in {"404", "enoent", code.lower()}:
            telling.setdefault(line)
    said = _find_sentences([*telling])
    if not said:
        return _facts(code, " ".join(filter(None, (fields.get("syscall"), fields.get("path")))) or code)
    said.sort(key=lambda line: not line.startswith(_REQUESTED))
    cause, others = said[0].removeprefix(_REQUESTED), said[1:]
    if others and cause == "Unsupported engine":
        cause, others = ", ".join(others), []
    return _facts(code, cause.removeprefix(f"{code}: "), others)


def _find_sentences(lines: list[str]) -> list[str]:
    """Join lines that npm has broken to fit a terminal: what goes on in lower case behind a line without an end."""
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1][-1:] not in ".:;" and line[:1].islower() and len(joined[-1]) > _MIN_BROKEN:
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    return joined


def _conflict(words: Sequence[str]) -> Facts:
    """Read a conflict of versions: what is there, and who wants something else."""
    stripped = [_TOPIC.sub("", line.strip()) for line in words]
    found = next((match["package"] for line in stripped if (match := _FOUND.match(line))), "")
    start = stripped.index(_RESOLVING) + 1 if _RESOLVING in stripped else len(stripped)
    wanted = next((line for line in stripped[start:] if _WANTED.match(line)), "")
    conflicting = next((line.removeprefix(_CONFLICTING) for line in stripped if line.startswith(_CONFLICTING)), "")
    resolving = next((line for line in stripped if line.startswith("While resolving: ")), "")
    holders = [line for line in stripped[:start] if _WANTED.match(line)]
    against = found or conflicting
    if not wanted or not against:
        return _facts("ERESOLVE", next(filter(None, stripped), "unable to resolve dependency tree"), (resolving,))
    return _facts("ERESOLVE", f"{wanted} conflicts with {against}", (*holders[:2], resolving.lower()))


# --- pnpm and Yarn ---------------------------------------------------------------------------------------------------


def _pnpm(lines: Sequence[str]) -> Facts | None:
    for number, line in enumerate(lines):
        found = _PNPM.match(line)
        if found is None:
            continue
        code, said = found["code"], found["said"].strip()
        if "LIFECYCLE" in code or code == "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL":
            facts = _read_script(lines[:number], said)
            return facts if facts is not None else _facts(code, said)
        missing = _MISSING_SCRIPT.match(said)
        others = [other.strip() for other in lines[number + 1 :] if other.strip() and not _NOISE.match(other.strip())]
        if missing is not None:
            return _facts(
                MISSING_SCRIPT,
                f'Missing script: "{missing["script"]}"',
                [line for line in others if "Did you mean" in line],
            )
        return _facts(code, said, others)
    return None


def _pnpm_script(lines: Sequence[str]) -> Facts | None:
    for number, line in enumerate(lines):
        found = _PNPM_LIFECYCLE.match(line)
        if found is not None:
            said = found["said"].rstrip(".")
            facts = _read_script(lines[:number], said)
            return facts if facts is not None else _facts(_exit(said), said)
    return None


def _yarn(lines: Sequence[str]) -> Facts | None:
    for number, line in enumerate(lines):
        found = _YARN.match(line)
        if found is None:
            continue
        said = found["said"]
        missing = _YARN_NO_COMMAND.match(said)
        if missing is not None:
            return _facts(
                MISSING_SCRIPT,
                f'Missing script: "{missing["script"]}"',
                [other for other in lines[number + 1 :] if "Did you mean" in other],
            )
        if _YARN_FAILED.match(said):
            facts = _read_script(lines[:number], said.rstrip("."))
            return facts if facts is not None else _facts(_exit(said), said)
        return _facts("YarnError", said)
    return None


def _berry(lines: Sequence[str]) -> Facts | None:
    telling = [
        found
        for line in lines
        if (found := _BERRY.match(line)) and found["code"] not in _BERRY_SILENT and found["said"]
    ]
    if not telling:
        return None
    return _facts(telling[0]["code"], telling[0]["said"], [found["said"] for found in telling[1:]])


def _berry_usage(lines: Sequence[str]) -> Facts | None:
    for line in lines:
        found = _BERRY_USAGE.match(line)
        if found is not None and (
            "script named" in line or "workspace" in line or "package" in line or "lockfile" in line
        ):
            kind = MISSING_SCRIPT if "script named" in line else "UsageError"
            return _facts(kind, found["said"])
    return None


_READERS: Final = (
    _Reader("npm ", _npm),
    _Reader("ERR_PNPM_", _pnpm),
    _Reader("ELIFECYCLE", _pnpm_script),
    _Reader("yarnpkg.com/", _yarn),
    _Reader("\u27a4 YN0", _berry),
    _Reader("Usage Error: ", _berry_usage),
)

FORMAT: Final = Format(
    name="npm",
    read=read,
    markers=("npm ERR!", "npm error", "ERR_PNPM_", "ELIFECYCLE", "yarnpkg.com/", "\u27a4 YN0", "Usage Error: "),
    programs=("npm", "yarn", "pnpm", "bun", "lerna", "nx", "turbo", "husky", "rush", "npx", "bunx"),
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
