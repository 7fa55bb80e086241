"""Errors of cargo before and beside compiling: manifests, resolution, targets, build scripts; and of rustup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.grammar import (
    NOWHERE,
    Checker,
    Command,
    Facts,
    Format,
    Lines,
    Location,
    Rules,
    Text,
    clip,
    details,
    form,
)
from otel_errcompact.extract.statements import is_telling

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADLINES: Final = Rules(r"""
ManifestError     failed to (?:parse manifest|load manifest|parse lock file)|could not (?:find|parse) `?Cargo
    |invalid character|manifest path `|current package believes|virtual manifests must
BuildScriptError  failed to run custom build command for `
ResolutionError   failed to (?:select a version|get `|load source|download|fetch|resolve|query|update registry)
    |no matching package|cyclic package|checksum for `|package .{1,200} cannot be built because
    |rustc .{1,60} is not supported by|unable to get packages|the crate `.{1,200}` could not be found|failed to sync
TargetError       no (?:bin|bins|example|test|bench|lib|library|default-run) targets?|a bin target must be available
    |`cargo run` (?:could not determine|requires)|target `.{1,100}` in package|package ID specification `
    |no library targets|(?:none of the selected packages|the package `?'?[^`']{1,100}'?`?) (?:contains?
    |does not contain) (?:this|these)
UsageError        no such (?:sub)?command: `
LockFileError     (?:the lock file|cannot (?:create|update) the lock file) .{1,400}--(?:locked|frozen)
ToolchainError    (?:toolchain|component|target) '.{1,100}' (?:is not installed|for target|does not|is (?:un|not ))
    |rustup could not choose|'cargo.{0,60}' is not installed for the toolchain
ProcessError      process didn't exit successfully: `
ManifestError     package `.{1,200}` is not a member|multiple workspace roots|failed to (?:read|open
    |write) `.{1,400}Cargo
""")
_MANIFEST: Final = form(r"failed to parse manifest at `(?P<file>[^`]{1,500})`")
_PROCESS: Final = form(r"process didn't exit successfully: `(?P<command>[^`]{1,2000})` \((?P<outcome>.{1,200})\)")
_CAUSED_BY: Final = "Caused by:"
_ERRNO: Final = form(r"(?:.{0,200} )?\(os error {number}\)$|.{0,15}$")
_VERSIONS: Final = form(r"versions that meet the requirements `[^`]{1,200}` are: ")
_REQUIRED: Final = ("    ... required by", "required by package", "candidate versions found", "help: ")


def read(text: Text) -> Facts | None:
    """Return the facts of the first error that cargo states in a form of its own."""
    lines = text.lines
    for number, line in enumerate(lines):
        kind = _HEADLINES.type_of(line[7:]) if line.startswith("error: ") else ""
        facts = _read_error(kind, line[7:], lines[number + 1 :]) if kind else None
        if facts is not None:
            return facts
    return None


def _read_error(kind: str, headline: str, after: Lines) -> Facts | None:
    if kind == "BuildScriptError":
        return _read_build_script(headline, after)
    if kind == "ProcessError":
        return _read_process(headline)
    return _read_chain(kind, headline, after)


def _read_process(headline: str) -> Facts | None:
    found = _PROCESS.match(headline)
    if found is None:
        return None
    kind = found["outcome"].replace("exit status: ", "exit code ").replace("exit code: ", "exit code ")
    return Facts(type=kind, cause=clip(headline))


def _read_build_script(headline: str, after: Lines) -> Facts:
    said = [line.strip() for line in _standard_error(after) if line.strip()]
    last = next((line for line in reversed(said) if is_telling(line)), "")
    outcome = next((line.strip() for line in after if line.startswith("  process didn't")), "")
    end = _PROCESS.match(outcome)
    cause = last or (said[-1] if said else outcome) or headline
    before = (line for line in said if line != cause and not line.startswith("note: "))
    ended = f"{headline} ({end['outcome']})" if end else headline.removeprefix(cause)
    return Facts(type="BuildScriptError", cause=clip(cause), details=details((ended, *before), 4))


def _standard_error(after: Lines) -> Lines:
    return after[after.index("  --- stderr") + 1 :] if "  --- stderr" in after else ()


def _read_chain(kind: str, headline: str, after: Lines) -> Facts:
    # Read a headline and the causes below it; the last one is the root, with the one above where it names nothing.
    causes = [clip(cause) for cause in _list_causes(after) if cause]
    manifest = _MANIFEST.match(headline)
    place = Location(file=manifest["file"]) if manifest else NOWHERE
    explained = _find_explanation(after)
    root = causes.pop() if causes else explained or headline
    if causes and _ERRNO.match(root):
        root = f"{causes.pop()}: {root}"
    shown = "" if manifest or explained or root == headline else headline
    more = (line.strip() for line in after if line.startswith(_REQUIRED))
    return Facts(type=kind, cause=clip(root), location=place, details=details((shown, *more), 5))


def _list_causes(after: Lines) -> Iterator[str]:
    # Yield the texts below `Caused by:`, each as one line.
    for number, line in enumerate(after):
        if line == _CAUSED_BY:
            block = after[number + 1 :]
            end = next((at for at, text in enumerate(block) if not text.startswith("  ")), len(block))
            yield "; ".join(text.strip() for text in block[:end])


def _find_explanation(after: Lines) -> str:
    start = next((number for number, line in enumerate(after) if _VERSIONS.match(line)), -1)
    said = [line.strip() for line in after[start + 1 :] if line.strip()] if start >= 0 else []
    return " ".join(said[:2] if said[:1] and said[0].endswith(":") else said[:1])


_TESTS: Final = Checker(
    harmless="-q --quiet -v --verbose --no-fail-fast --locked --offline --frozen --nocapture --show-output",
    with_value="-j --jobs --color --message-format --test-threads",
    narrowing="--test --bin --example --skip",
    narrowing_flags="--lib --bins --tests --exact",
    everything="",
)

FORMAT: Final = Format(
    name="cargo",
    read=read,
    markers=("error: ",),
    commands=(
        Command("cargo", prints="cargo rust rustc findings", subcommands="*", scopes="-p", texts="-j -F"),
        Command("cargo test", prints="cargotest", checks=_TESTS),
        Command("cargo nextest", prints="cargotest"),
        Command("cargo xtask", subcommands="*"),
        Command("rustup", prints="", subcommands="*"),
    ),
    closings=(
        r"error: (?:no such (?:command|subcommand)|package ID|failed to |linking with |cannot find|the lock file)",
        r"error: (?:could not compile|aborting due to|test failed, to rerun|failed to run custom build)",
    ),
    passes=(r" {3,12}Finished `?\w+",),
)
