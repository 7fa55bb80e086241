"""Errors of pip, uv, poetry and conda; of a build that failed inside, the cause without the boxes around it."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Facts
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.format import Format
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.stacks.frames import is_own
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.extract.text import Text


# --- boxes around the output of a build ---
_BOX: Final = lazy_pattern(r" {0,8}\u2570\u2500> \[[0-9]{1,9} lines? of output\]$")
_BOX_END: Final = "[end of output]"
_STEP: Final = lazy_pattern(r" {0,8}\u00d7 (?P<step>\S.{0,300}?)(?: did not run successfully)?\.?$")
_STREAM: Final = ("[stderr]", "[stdout]")
_SETUP: Final = ", in run_setup"
_STRING: Final = 'File "<string>"'
_STUB: Final = 'File "<string>", line 1, '
_RUNNER: Final = 'File "<build>"'

# --- statements ---
_UNSATISFIED: Final = lazy_pattern(
    r"ERROR: Could not find a version that satisfies the requirement (?P<what>.{1,300}?) "
    r"\(from (?:.{1,200} )??versions: (?P<versions>[^)]{1,60000})\)?"
)
_NO_MATCH: Final = lazy_pattern(r"ERROR: No matching distribution found for (?P<what>.{1,300})$")
_RETRY: Final = lazy_pattern(
    r"WARNING: Retrying .{1,300} after connection broken by '(?P<type>\w{1,100})\((?P<reason>.{1,1000})\)': "
)
_REASON: Final = lazy_pattern(r"(?:.{0,600}?(?:object at 0x[0-9a-f]{1,20}>|port=[0-9]{1,6}\)): )?(?P<reason>.{1,600})")
_OTHER_PYTHON: Final = lazy_pattern(
    r"ERROR: (?:Ignored the following versions that require a different python"
    r"|Package '.{1,200}' requires a different Python: )"
)
_INSTALLED: Final = lazy_pattern(
    r"(?P<what>\S{1,200} \S{1,100} (?:requires .{1,300}, but you have .{1,300} which is incompatible"
    r"|requires .{1,300}, which is not installed))\.$"
)
_OWN: Final = lazy_pattern(
    r"ERROR: (?P<message>(?:Could not open requirements file|Could not install packages due to|Invalid requirement"
    r"|Could not detect requirement|.{1,400} does not appear to be a Python project"
    r"|Directory '.{1,400}' is not installable|HTTP error [0-9]{3} while|THESE PACKAGES DO NOT MATCH"
    r"|Hashes are required|In --require-hashes mode|Wheel '.{1,300}' |.{1,300}\.whl is not a (?:valid"
    r"|supported) wheel|Can not perform a '--user'|Error \[Errno|You must give at least"
    r"|Package '.{1,200}' requires a different Python|Failed to build|Failed building wheel|Could not build wheels"
    r"|Could not find an activated virtualenv|Cannot install |Command errored out|Cannot uninstall "
    r"|Cannot set ).{0,2000})"
)
_PIP_TYPES: Final = (
    ("Package '", "RequiresPython"),
    ("Invalid requirement", "InvalidRequirement"),
    ("THESE PACKAGES", "HashMismatch"),
)
_UV_CAUSE: Final = lazy_pattern(r"(?:  (?:cause|Caused by): |(?:  )?(?:\u251c|\u2570)\u2500\u25b6 )(?P<cause>\S.*)")
_POETRY: Final = lazy_pattern(
    r"(?P<message>Group\(s\) not found: .{1,300}|pyproject\.toml changed significantly since .{1,300}"
    r"|Poetry could not find a pyproject\.toml .{1,300}|Could not find a matching version of package .{1,300}"
    r"|The current project's .{0,60}Python (?:range|requirement) .{1,500})$"
)
_CONDA: Final = lazy_pattern(
    r"(?P<type>PackagesNotFoundError|ResolvePackageNotFound|UnsatisfiableError|LibMambaUnsatisfiableError"
    r"|EnvironmentLocationNotFound|EnvironmentNameNotFound|Conda\w{0,60}Error|SpecsConfigurationConflictError"
    r"|InvalidVersionSpec|DirectoryNotACondaEnvironmentError): ?(?P<message>.*)"
)
_HASHED: Final = lazy_pattern(r"    \S.{0,300}? from \S")
_STALE_LOCK: Final = lazy_pattern(r"The lockfile at `[^`]{1,300}` needs to be updated.{0,300}")
_LATEST: Final = 5
_SIDES: Final = 2
"""Requirements that exclude each other: the first two are the cause, the others follow."""


def read(text: Text) -> Facts | None:
    """Return the facts of what could not be resolved, built or installed."""
    lines = text.lines
    return (
        _boxed_build(lines)
        or _uv(lines)
        or _unresolved(lines)
        or _incompatible(lines)
        or _read_own(lines)
        or _poetry(lines)
        or _conda(lines)
    )


# --- builds ----------------------------------------------------------------------------------------------------------


def _boxed_build(lines: Sequence[str]) -> Facts | None:
    """Read the output of a build that pip shows in a box."""
    start = next((number for number, line in enumerate(lines) if "lines of output]" in line and _BOX.match(line)), -1)
    if start < 0:
        return _externally_managed(lines)
    output = list(takewhile(lambda line: line.strip() != _BOX_END, lines[start + 1 :]))
    step = next((found["step"] for line in reversed(lines[:start]) if (found := _STEP.match(line))), "")
    return _built(output, f"while {step}" if step else "")


def _built(output: Sequence[str], step: str) -> Facts | None:
    inner = facts_of_output(_name_setup(output), any_text=True)
    if inner is None:
        return None
    if is_own(inner.location.file):
        return replace(inner, details=details((*inner.details[:6], step)))
    # What is wrong stands in the project, not in the tool that builds it.
    kept = (line for line in inner.details[:6] if not line.startswith("> "))
    return replace(inner, location=NOWHERE, details=details((*kept, step)))


def _name_setup(output: Sequence[str]) -> list[str]:
    """Give the setup script its name back, which setuptools runs as a string; other strings are what runs the build."""
    start = next((number for number, line in enumerate(output) if line.endswith(_SETUP)), len(output))
    runners = (line.replace(_STRING, _RUNNER) for line in output[:start])
    scripts = (
        line.replace(_STUB, f"{_RUNNER}, line 1, ").replace(_STRING, 'File "setup.py"') for line in output[start:]
    )
    return [*runners, *scripts]


def _externally_managed(lines: Sequence[str]) -> Facts | None:
    if not any(line.startswith("error: externally-managed-environment") for line in lines):
        return None
    cause = "This environment is externally managed"
    advice = (
        line.strip(" \u2502\u2570\u2500>") for line in lines if "apt install" in line or "python3 -m venv" in line
    )
    return Facts(type="ExternallyManagedEnvironment", cause=cause, details=details(advice, 2))


# --- uv --------------------------------------------------------------------------------------------------------------


def _uv(lines: Sequence[str]) -> Facts | None:
    """Read an error of uv: a headline, its causes, and of a failed build the output."""
    stated = (number for number, line in enumerate(lines) if line.startswith(("error: ", "  \u00d7 ", "\u00d7 ")))
    errors = (_uv_error(lines[number].partition(" ")[2], lines[number + 1 :]) for number in stated)
    return next((facts for facts in errors if facts is not None), None) or _stale_lock(lines)


def _stale_lock(lines: Sequence[str]) -> Facts | None:
    found = next((match for line in lines if (match := _STALE_LOCK.match(line.removeprefix("error: ")))), None)
    return Facts(type="LockOutdated", cause=clip(found[0])) if found else None


def _uv_error(headline: str, after: Sequence[str]) -> Facts | None:
    causes = _uv_causes(after)
    if not causes:
        return None
    headline = headline.strip(" :\u00d7")
    stream = next((number for number, line in enumerate(after) if line.strip() == _STREAM[0]), -1)
    if stream < 0:
        stream = next((number for number, line in enumerate(after) if line.strip() == _STREAM[1]), -1)
    output = takewhile(lambda line: not line.startswith(("hint: ", "  help: ")), after[stream + 1 :])
    built = _built(list(output), headline) if stream >= 0 else None
    if built is not None:
        return built
    kind = "NoSolution" if headline.startswith("No solution found") else "UvError"
    cause = causes[-1] if kind == "NoSolution" else ": ".join((headline, *causes))
    hints = (said for line in after if (said := line.strip()).startswith(("hint: ", "help: ")))
    return Facts(type=kind, cause=clip(cause), details=details(hints, 2))


def _uv_causes(after: Sequence[str]) -> list[str]:
    """Return the causes below a headline, each with the lines that continue it."""
    causes: list[str] = []
    for line in after:
        found = _UV_CAUSE.match(line)
        if found is not None:
            causes.append(found["cause"])
        elif not causes or not line.startswith("    ") or line.lstrip().startswith("hint: "):
            break
        else:
            causes[-1] += f" {line.strip()}"
    return causes


# --- pip -------------------------------------------------------------------------------------------------------------


def _unresolved(lines: Sequence[str]) -> Facts | None:
    """Read that no version fits: versions exclude each other, do not exist, or the index cannot be reached."""
    start = next((number for number, line in enumerate(lines) if line == "The conflict is caused by:"), -1)
    if start >= 0:
        return _conflict(lines, start)
    found = next(
        (match for line in reversed(lines) if line.startswith("ERROR: No") and (match := _NO_MATCH.match(line))), None
    )
    wanted = next(
        (match for line in lines if line.startswith("ERROR: Could") and (match := _UNSATISFIED.match(line))), None
    )
    stated = found or wanted
    if stated is None:
        return None
    message = f"No matching distribution found for {stated['what']}"
    unreachable = next(
        (match for line in lines if line.startswith("WARNING: R") and (match := _RETRY.match(line))), None
    )
    if unreachable is not None:
        reason = _REASON.match(unreachable["reason"].strip("'\""))
        why = (reason["reason"] if reason else unreachable["reason"]).strip("'\")")
        return Facts(type=unreachable["type"], cause=clip(why), details=(message,))
    others = (line.removeprefix("ERROR: ") for line in lines if _OTHER_PYTHON.match(line))
    return Facts(
        type="NoMatchingDistribution",
        cause=clip(message),
        details=details((*others, _versions(wanted["versions"]) if wanted else "")),
    )


def _versions(listed: str) -> str:
    """Return the newest of the versions that there are."""
    versions = listed.split(", ")
    if len(versions) <= _LATEST:
        return f"versions: {listed}"
    return f"{len(versions)} versions, the newest: {', '.join(versions[-_LATEST:])}"


def _conflict(lines: Sequence[str], start: int) -> Facts:
    """Read which requirements exclude each other."""
    listed = takewhile(lambda line: line.startswith("  "), lines[start + 1 :])
    reasons = [*dict.fromkeys(map(str.strip, listed))]  # pip repeats the request before each that excludes it
    headline = next((line[7:] for line in lines[:start] if line.startswith("ERROR: Cannot install ")), "")
    return Facts(
        type="ResolutionImpossible",
        cause=clip("; ".join(reasons[:_SIDES]) or headline),
        details=details(reasons[_SIDES:]),
        key_cause="; ".join(reasons) if len(reasons) > _SIDES else "",
    )


def _incompatible(lines: Sequence[str]) -> Facts | None:
    """Read what an installation has left incompatible."""
    if not any(line.startswith("ERROR: pip's dependency resolver") for line in lines):
        return None
    found = [match["what"] for line in lines if (match := _INSTALLED.match(line))]
    members = [Member("IncompatibleDependency", what) for what in found]
    return facts_of_members(members, unit="conflict") if members else None


def _read_own(lines: Sequence[str]) -> Facts | None:
    found = next((match for line in lines if line.startswith("ERROR: ") and (match := _OWN.match(line))), None)
    if found is None:
        return None
    message = found["message"]
    kind = next((kind for start, kind in _PIP_TYPES if message.startswith(start)), "PipError")
    hints = (line for line in lines if line.startswith("Hint: "))
    hashes = _hashes(lines) if kind == "HashMismatch" else ()
    cause = f"{hashes[0]}: its hash is not that of the requirements file" if hashes else message
    return Facts(type=kind, cause=clip(cause), details=details((*hashes[1:], *hints)))


def _hashes(lines: Sequence[str]) -> list[str]:
    """Return which package has another hash than is required, and both hashes."""
    start = next((number for number, line in enumerate(lines) if _HASHED.match(line)), len(lines))
    return [
        " ".join(line.split()).partition(" from ")[0]
        for line in takewhile(lambda line: line.startswith("    ") and line.strip(), lines[start : start + 3])
    ]


# --- poetry and conda ------------------------------------------------------------------------------------------------


def _poetry(lines: Sequence[str]) -> Facts | None:
    for number, line in enumerate(lines):
        if line.endswith("version solving failed."):
            start = next((at for at in range(number, -1, -1) if lines[at].startswith("Because ")), number)
            cause = " ".join(map(str.strip, lines[start : number + 1]))
            return Facts(type="SolverProblemError", cause=clip(cause))
        found = _POETRY.match(line)
        if found is not None:
            return Facts(type="PoetryError", cause=clip(found["message"]))
    return None


def _conda(lines: Sequence[str]) -> Facts | None:
    for number, line in enumerate(lines):
        found = _CONDA.match(line)
        if found is None:
            continue
        after = lines[number + 1 :]
        listed = [item.strip().removeprefix("- ") for item in after if item.lstrip().startswith("- ")]
        sources = {item for item in listed if "://" in item}
        said = [found["message"], ", ".join(item for item in listed if item not in sources)]
        return Facts(type=found["type"], cause=clip(" ".join(filter(None, said))))
    return None


FORMAT: Final = Format(
    name="pip",
    read=read,
    markers=(
        "ERROR: ",
        "subprocess-exited-with-error",
        "  cause: ",
        "  Caused by: ",
        "\u2570\u2500",
        "olving",
        "Group(s) not",
        "oetry",
        "onda",
        "The lockfile at ",
    ),
    programs=("pip", "pip3", "python -m pip", "uv", "poetry", "conda", "mamba", "pdm", "pipenv"),
    closings=(
        r"error: (?:subprocess-exited-with-error|externally-managed-environment|Failed to |Distribution not found)",
        r"(?:PackagesNotFoundError|ResolvePackageNotFound|CondaHTTPError|EnvironmentNameNotFound|LibMambaUnsatisfiableError):",
        r"Because [^\n]{1,400} version solving failed\.",
        r"ERROR: (?:Could not|No matching|Failed|Cannot) ",
        " {0,2}\u00d7 (?:No solution found|Failed to )",
    ),
)
