"""Errors of pip, uv, poetry and conda; of a build that failed inside, the cause without the boxes around it."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.grammar import NOWHERE, Command, Facts, Format, Lines, Rules, Text, find, find_blocks, form
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.stacks.frames import is_own
from otel_errcompact.runtime.records import replace

# --- boxes around the output of a build ---
_BOX: Final = form(r" {0,8}\u2570\u2500> \[{number} lines? of output\]$")
_BOX_END: Final = "[end of output]"
_STEP: Final = form(r" {0,8}\u00d7 (?P<step>\S.{0,300}?)(?: did not run successfully)?\.?$")
_STREAM: Final = ("[stderr]", "[stdout]")
_SETUP: Final = ", in run_setup"
_STRING: Final = 'File "<string>"'
_STUB: Final = 'File "<string>", line 1, '
_RUNNER: Final = 'File "<build>"'

# --- statements ---
_UNSATISFIED: Final = form(
    r"ERROR: Could not find a version that satisfies the requirement (?P<what>.{1,300}?) "
    r"\(from (?:.{1,200} )??versions: (?P<versions>[^)]{1,60000})\)?"
)
_NO_MATCH: Final = form(r"ERROR: No matching distribution found for (?P<what>.{1,300})$")
_RETRY: Final = form(
    r"WARNING: Retrying .{1,300} after connection broken by '(?P<type>\w{1,100})\((?P<reason>.{1,1000})\)': "
)
_REASON: Final = form(r"(?:.{0,600}?(?:object at 0x[0-9a-f]{1,20}>|port={number}\)): )?(?P<reason>.{1,600})")
_OTHER_PYTHON: Final = form(
    r"ERROR: (?:Ignored the following versions that require a different python"
    r"|Package '.{1,200}' requires a different Python: )"
)
_INSTALLED: Final = form(
    r"(?P<what>{word} \S{1,100} (?:requires .{1,300}, but you have .{1,300} which is incompatible"
    r"|requires .{1,300}, which is not installed))\.$"
)
_OWN: Final = Rules(
    r"""
RequiresPython      ERROR: (?P<message>Package '.{1,200}' requires a different Python.*)
InvalidRequirement  ERROR: (?P<message>Invalid requirement.*)
HashMismatch        ERROR: (?P<message>THESE PACKAGES DO NOT MATCH.*)
PipError            ERROR: (?P<message>(?:Could not open requirements file|Could not install packages due to
    |Could not detect requirement|.{1,400} does not appear to be a Python project|HTTP error [0-9]{3} while
    |Directory '.{1,400}' is not installable|Hashes are required|In --require-hashes mode|Wheel '.{1,300}'[ ]
    |.{1,300}\.whl is not a (?:valid|supported) wheel|Can not perform a '--user'|Error \[Errno|You must give at least
    |Failed to build|Failed building wheel|Could not build wheels|Could not find an activated virtualenv
    |Cannot (?:install|uninstall|set) |Command errored out).*)
""",
    begins=("ERROR: ",),
)
_UV_CAUSE: Final = form(r"(?:  (?:cause|Caused by): |(?:  )?(?:\u251c|\u2570)\u2500\u25b6 )(?P<cause>\S.*)")
_POETRY: Final = Rules(r"""
PoetryError  (?P<message>Group\(s\) not found: .{1,300}|pyproject\.toml changed significantly since .{1,300}
    |Poetry could not find a pyproject\.toml .{1,300}|Could not find a matching version of package .{1,300}
    |The current project's .{0,60}Python (?:range|requirement) .{1,500})$
""")
_CONDA: Final = form(
    r"(?P<type>PackagesNotFoundError|ResolvePackageNotFound|UnsatisfiableError|LibMambaUnsatisfiableError"
    r"|EnvironmentLocationNotFound|EnvironmentNameNotFound|Conda\w{0,60}Error|SpecsConfigurationConflictError"
    r"|InvalidVersionSpec|DirectoryNotACondaEnvironmentError): ?(?P<message>.*)"
)
_HASHED: Final = form(r"    \S.{0,300}? from \S")
_STALE_LOCK: Final = Rules(r"""
LockOutdated  (?:error: )?(?P<message>The lockfile at `[^`]{1,300}` needs to be updated.{0,300})
""")
_LATEST: Final = 5
_SIDES: Final = 2
"""Requirements that exclude each other: the first two are the cause, the others follow."""


def read(text: Text) -> Facts | None:
    """Return the facts of what could not be resolved, built or installed."""
    readers = (_boxed_build, _read_uv, _read_unresolved, _read_incompatible, _read_own, _read_poetry, _read_conda)
    return next(filter(None, (read(text.lines) for read in readers)), None)


# --- builds ----------------------------------------------------------------------------------------------------------


def _boxed_build(lines: Lines) -> Facts | None:
    box = next(find_blocks(lines, _BOX, most=len(lines)), None)
    if box is None:
        return _externally_managed(lines)
    step = find(_STEP, reversed(lines[: box.start]))
    output = takewhile(lambda line: line.strip() != _BOX_END, lines[box.start + 1 :])
    return _read_build(list(output), f"while {step['step']}" if step else "")


def _read_build(output: Lines, step: str) -> Facts | None:
    inner = facts_of_output(_name_setup(output), any_text=True)
    if inner is None:
        return None
    if is_own(inner.location.file):
        return replace(inner, details=details((*inner.details[:6], step)))
    # What is wrong stands in the project, not in the tool that builds it.
    kept = (line for line in inner.details[:6] if not line.startswith("> "))
    return replace(inner, location=NOWHERE, details=details((*kept, step)))


def _name_setup(output: Lines) -> list[str]:
    # Give the setup script its name back, which setuptools runs as a string; other strings are what runs the build.
    start = next((number for number, line in enumerate(output) if line.endswith(_SETUP)), len(output))
    runners = (line.replace(_STRING, _RUNNER) for line in output[:start])
    scripts = (
        line.replace(_STUB, f"{_RUNNER}, line 1, ").replace(_STRING, 'File "setup.py"') for line in output[start:]
    )
    return [*runners, *scripts]


def _externally_managed(lines: Lines) -> Facts | None:
    if not any(line.startswith("error: externally-managed-environment") for line in lines):
        return None
    cause = "This environment is externally managed"
    advice = (
        line.strip(" \u2502\u2570\u2500>") for line in lines if "apt install" in line or "python3 -m venv" in line
    )
    return Facts(type="ExternallyManagedEnvironment", cause=cause, details=details(advice, 2))


# --- uv --------------------------------------------------------------------------------------------------------------


def _read_uv(lines: Lines) -> Facts | None:
    # Read an error of uv: a headline, its causes, and of a failed build the output.
    stated = (number for number, line in enumerate(lines) if line.startswith(("error: ", "  \u00d7 ", "\u00d7 ")))
    errors = (_uv_error(lines[number].partition(" ")[2], lines[number + 1 :]) for number in stated)
    return next((facts for facts in errors if facts is not None), None) or _STALE_LOCK.find(lines)


def _uv_error(headline: str, after: Lines) -> Facts | None:
    causes = _uv_causes(after)
    if not causes:
        return None
    headline = headline.strip(" :\u00d7")
    said = [line.strip() for line in after]
    stream = next((said.index(stream) for stream in _STREAM if stream in said), -1)
    output = takewhile(lambda line: not line.startswith(("hint: ", "  help: ")), after[stream + 1 :])
    built = _read_build(list(output), headline) if stream >= 0 else None
    if built is not None:
        return built
    kind = "NoSolution" if headline.startswith("No solution found") else "UvError"
    cause = causes[-1] if kind == "NoSolution" else ": ".join((headline, *causes))
    hints = (line for line in said if line.startswith(("hint: ", "help: ")))
    return Facts(type=kind, cause=clip(cause), details=details(hints, 2))


def _uv_causes(after: Lines) -> list[str]:
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


def _read_unresolved(lines: Lines) -> Facts | None:
    # Read that no version fits: versions exclude each other, do not exist, or the index cannot be reached.
    start = next((number for number, line in enumerate(lines) if line == "The conflict is caused by:"), -1)
    if start >= 0:
        return _read_conflict(lines, start)
    found = find(_NO_MATCH, reversed(lines), "ERROR: No")
    wanted = find(_UNSATISFIED, lines, "ERROR: Could")
    stated = found or wanted
    if stated is None:
        return None
    message = f"No matching distribution found for {stated['what']}"
    unreachable = find(_RETRY, lines, "WARNING: R")
    if unreachable is not None:
        reason = _REASON.match(unreachable["reason"].strip("'\""))
        why = (reason["reason"] if reason else unreachable["reason"]).strip("'\")")
        return Facts(type=unreachable["type"], cause=clip(why), details=(message,))
    others = (line.removeprefix("ERROR: ") for line in lines if _OTHER_PYTHON.match(line))
    return Facts(
        type="NoMatchingDistribution",
        cause=clip(message),
        details=details((*others, _describe_versions(wanted["versions"]) if wanted else "")),
    )


def _describe_versions(listed: str) -> str:
    versions = listed.split(", ")
    if len(versions) <= _LATEST:
        return f"versions: {listed}"
    return f"{len(versions)} versions, the newest: {', '.join(versions[-_LATEST:])}"


def _read_conflict(lines: Lines, start: int) -> Facts:
    listed = takewhile(lambda line: line.startswith("  "), lines[start + 1 :])
    reasons = [*dict.fromkeys(map(str.strip, listed))]  # pip repeats the request before each that excludes it
    headline = next((line[7:] for line in lines[:start] if line.startswith("ERROR: Cannot install ")), "")
    return Facts(
        type="ResolutionImpossible",
        cause=clip("; ".join(reasons[:_SIDES]) or headline),
        details=details(reasons[_SIDES:]),
        key_cause="; ".join(reasons) if len(reasons) > _SIDES else "",
    )


def _read_incompatible(lines: Lines) -> Facts | None:
    if not any(line.startswith("ERROR: pip's dependency resolver") for line in lines):
        return None
    found = [match["what"] for line in lines if (match := _INSTALLED.match(line))]
    members = [Member("IncompatibleDependency", what) for what in found]
    return facts_of_members(members, unit="conflict")


def _read_own(lines: Lines) -> Facts | None:
    own = _OWN.find(lines)
    if own is None:
        return None
    hints = (line for line in lines if line.startswith("Hint: "))
    hashes = _list_hashes(lines) if own.type == "HashMismatch" else ()
    cause = clip(f"{hashes[0]}: its hash is not that of the requirements file") if hashes else own.cause
    return replace(own, cause=cause, details=details((*hashes[1:], *hints)))


def _list_hashes(lines: Lines) -> list[str]:
    # Return which package has another hash than is required, and both hashes.
    start = next((number for number, line in enumerate(lines) if _HASHED.match(line)), len(lines))
    return [
        " ".join(line.split()).partition(" from ")[0]
        for line in takewhile(lambda line: line.startswith("    ") and line.strip(), lines[start : start + 3])
    ]


# --- poetry and conda ------------------------------------------------------------------------------------------------


def _read_poetry(lines: Lines) -> Facts | None:
    end = next((number for number, line in enumerate(lines) if line.endswith("version solving failed.")), -1)
    if end < 0:
        return _POETRY.find(lines)
    start = next((at for at in range(end, -1, -1) if lines[at].startswith("Because ")), end)
    return Facts(type="SolverProblemError", cause=clip(" ".join(map(str.strip, lines[start : end + 1]))))


def _read_conda(lines: Lines) -> Facts | None:
    block = next(find_blocks(lines, _CONDA), None)
    if block is None:
        return None
    listed = [item.strip().removeprefix("- ") for item in block.lines if item.lstrip().startswith("- ")]
    missing = (line.strip(" \u2502\u251c\u2514\u2500.;") for line in lines if " , which does not exist" in line)
    said = (block.head["message"], ", ".join(item for item in listed if "://" not in item), "; ".join(missing))
    return Facts(type=block.head["type"], cause=clip(" ".join(filter(None, said))))


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
    commands=(
        Command("pip, pip3, conda, mamba, pdm, pipenv, poetry, uv", subcommands="*", speaks="pip"),
        Command("python -m pip"),
        Command("uv pip, uv tool, poetry env, conda env", subcommands="*"),
        Command("uv run, poetry run, pipenv run, pdm run, conda run, mamba run", wraps=True),
        Command("uvx", wraps=True, values="--from --with"),
        Command("pipx, pixi, rye", prints="", subcommands="*"),
        Command("hatch", prints="", subcommands="*", scopes="-e", runs_any=True),
        Command("hatch env", prints="", subcommands="*"),
        Command("hatch run, rye run, pixi run", prints="", wraps=True),
    ),
    closings=(
        r"error: (?:subprocess-exited-with-error|externally-managed-environment|Failed to |Distribution not found)",
        r"(?:PackagesNotFoundError|ResolvePackageNotFound|CondaHTTPError|EnvironmentNameNotFound|LibMambaUnsatisfiableError):",
        r"Because [^\n]{1,400} version solving failed\.",
        r"ERROR: (?:Could not|No matching|Failed|Cannot) ",
        " {0,2}\u00d7 (?:No solution found|Failed to )",
    ),
)
