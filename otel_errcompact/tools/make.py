"""Errors of make, scons, ninja, just and bazel; of what their recipes ran, the words that tell why it failed."""

from __future__ import annotations

from itertools import chain, islice
from typing import Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Format,
    Found,
    Lines,
    Members,
    Text,
    form,
    place_of,
)
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members, to_member
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.statements import is_telling

_FATAL: Final = form(r"(?:(?P<program>[\w./+-]{1,100})(?:\[(?P<level>[0-9]{1,3})\])?|{file}:{line}): \*\*\* {message}")
_RECIPE: Final = form(
    r"\[(?:(?P<file>[^\s:\]]{1,300}):{line}: )?(?P<target>[^\]]{1,300})\] (?:Error (?P<code>-?{number})"
    r"|(?P<signal>(?:Killed|Terminated|Aborted|Interrupt|Hangup|Quit|Segmentation fault|Bus error"
    r"|Illegal instruction|Floating point exception|Trace/breakpoint trap|Broken pipe)(?: \(core dumped\))?))$"
)
_OLD_RECIPE: Final = form(r"{file}:{line}: recipe for target ['`][^']{1,300}' failed$")
_NO_CAUSE: Final = ("Waiting for unfinished jobs", "Deleting ", "Archive member ")
_FOLDER: Final = form(
    r"[\w./+-]{0,100}make[\w.]{0,10}(?:\[(?P<level>[0-9]{1,3})\])?: (?:Entering"
    r"|Leaving) directory ['`](?P<folder>[^'`]{1,500})['`]$"
)
_CHATTER: Final = form(
    r"(?:[\w./+-]{0,100}make(?:\[[0-9]{1,3}\])?: (?:Entering|Leaving|Nothing|Target|\*\*\*)|\[ {0,2}[0-9]{1,3}%\] )"
)
_BY_MAKE: Final = form(r"[\w./+-]{0,100}make(?:\[[0-9]{1,3}\])?: (?=\S)")
_NINJA: Final = form(r"ninja: (?:error|fatal): {message}")
_NINJA_FAILED: Final = form(r"FAILED: (?!Build did NOT)(?:\[code=(?P<code>-?{number})\] )?(?P<target>\S.{0,300})$")
_NINJA_STEP: Final = form(r"(?:\[{number}/{number}\] |ninja: )")
_JUST: Final = form(
    r"error: (?:Recipe `(?P<recipe>[^`]{1,200})`(?: failed on line {line})? .{0,40}?exit code (?P<code>{number})|"
    r"(?P<message>[Jj]ustfile does not contain recipes? .{1,300}))$"
)
_BAZEL: Final = form(
    r"ERROR: (?:(?P<file>/{path}):{line}(?::{number})?: )?(?P<message>(?!Build did NOT"
    r"|Analysis of target|Couldn't start the build).{1,1000})"
)


class _Recipe(NamedTuple):
    """A recipe that failed: what it was to make, where it stands, and how it ended."""

    target: str
    outcome: str
    location: Location = NOWHERE


def read(text: Text) -> Facts | None:
    """Return the facts of what a build tool could not make."""
    lines = text.lines
    members = list(islice(chain(_read_make(lines), _read_ninja(lines), _read_just(lines)), MAX_MEMBERS))
    if not members and "Build did NOT complete" in text.body:
        members.extend(islice(_read_bazel(lines), MAX_MEMBERS))
    return facts_of_members(members, unit="target", first_is_root=True)


def _read_make(lines: Lines) -> Members:
    # Yield what make could not make; what fails because of that in the makes that called it is no failure of its own.
    folders: dict[int, str] = {}
    deepest, start, place = 0, 0, NOWHERE
    for number, line in enumerate(lines):
        if " directory " in line and (entered := _FOLDER.match(line)):
            folders[int(entered["level"] or 0)] = entered["folder"]
        elif line.endswith("failed") and (old := _OLD_RECIPE.match(line)):
            place = place_of(old)
        found = _FATAL.match(line) if ": *** " in line else None
        if found is None or found["message"].startswith(_NO_CAUSE):
            continue
        level = int(found["level"] or 0)
        if level >= deepest:
            yield _read_fatal_error(found, lines[start:number], place, folders.get(level, ""), is_behind=start > 0)
        deepest, start, place = level, number + 1, NOWHERE


def _read_fatal_error(found: Found, output: Lines, place: Location, folder: str, *, is_behind: bool = False) -> Member:
    recipe = _RECIPE.match(found["message"])
    if recipe is not None:
        if recipe["file"]:
            place = place_of(recipe)
        outcome = recipe["signal"] or f"exit code {recipe['code']}"
        return _read_recipe(
            _Recipe(recipe["target"], outcome, _join_folder(folder, place)), output, is_behind=is_behind
        )
    if found["file"]:
        place = place_of(found)
    return Member(
        _name_tool(found["program"]),
        found["message"].removesuffix("Stop.").rstrip(". "),
        _join_folder(folder, place),
        details=(f"in {folder}",) if folder and not place else (),
    )


def _name_tool(program: str | None) -> str:
    # Return the name of the tool that stopped; a makefile's own error is make's, whatever make is called.
    name = (program or "make").rpartition("/")[2]
    return "make" if name.endswith("make") else name


def _join_folder(folder: str, place: Location) -> Location:
    if not folder or not place or place.file.startswith("/"):
        return place
    return Location(file=f"{folder}/{place.file}", line=place.line)


def _read_recipe(recipe: _Recipe, output: Lines, *, is_behind: bool = False) -> Member:
    # Return what a recipe failed of, as its output tells it; recipes made at once may have said it further above.
    said = [_BY_MAKE.sub("", line) for line in output if not _CHATTER.match(line)]
    facts = facts_of_output(said, any_text=_says_more_than_its_command(said))
    if facts is None:
        words = _last_words(said)
        cause = words or f"the recipe for '{recipe.target}' failed{'' if is_behind else ' without a word'}"
        return Member(recipe.outcome, cause, recipe.location, recipe.target)
    made = f"{recipe.target} ({recipe.location})" if recipe.location else recipe.target
    # Where the recipe stands is no place of the failure.
    return to_member(facts, recipe.target, f"to make {made}")._replace(output=facts)


def _says_more_than_its_command(said: Lines) -> bool:
    return sum(map(bool, map(str.strip, said))) > 1 or any(map(is_telling, said))


def _last_words(said: Lines) -> str:
    # Return the last line that tells of a failure, else the last line of all.
    lines = [line for line in said if line.strip()]
    return next((line for line in reversed(lines) if is_telling(line)), lines[-1] if lines else "")


def _read_ninja(lines: Lines) -> Members:
    # Yield the steps that failed, of a text in which something else of ninja's stands too.
    if not any(_NINJA_STEP.match(line) for line in lines):
        return
    for number, line in enumerate(lines):
        if line.startswith("ninja: ") and (found := _NINJA.match(line)):
            yield Member("ninja", found["message"])
        elif line.startswith("FAILED: ") and (failed := _NINJA_FAILED.match(line)):
            outcome = f"exit code {failed['code']}" if failed["code"] else "ninja"
            # The line behind it is the command.
            yield _read_recipe(_Recipe(failed["target"].strip(), outcome), _take_step(lines, number + 2))


def _take_step(lines: Lines, start: int) -> Lines:
    end = next(
        (at for at in range(start, len(lines)) if lines[at].startswith("FAILED: ") or _NINJA_STEP.match(lines[at])),
        len(lines),
    )
    return lines[start:end]


def _read_just(lines: Lines) -> Members:
    for number, line in enumerate(lines):
        found = _JUST.match(line) if line.startswith("error: ") else None
        if found is None:
            continue
        if found["message"]:
            yield Member("just", found["message"])
        else:
            place = Location(file="justfile", line=int(found["line"])) if found["line"] else NOWHERE
            yield _read_recipe(_Recipe(found["recipe"], f"exit code {found['code']}", place), lines[:number])


def _read_bazel(lines: Lines) -> Members:
    for line in lines:
        found = _BAZEL.match(line) if line.startswith("ERROR: ") else None
        if found is not None:
            place = place_of(found)
            yield Member("bazel", found["message"], place)


FORMAT: Final = Format(
    name="make",
    read=read,
    markers=(": *** ", "ninja: ", "FAILED: ", "error: Recipe `", "not contain recipe", "Build did NOT complete"),
    rejects=(r"Justfile does not contain recipe\b", r"(?:mise ERROR )?no tasks? named\b"),
    commands=(
        Command("make, gmake", subcommands="*", scopes="-f", texts="-j -l", speaks="make gmake", runs_any=True),
        Command("just", subcommands="*", scopes="-f -d", runs_any=True),
        Command("task", subcommands="*", scopes="-t -d", runs_any=True),
        Command("mise, invoke, inv, poe", subcommands="*", runs_any=True),
        Command("mise exec, mise x", wraps=True),
        Command("bazel, doit, pants, gulp, moon", subcommands="*"),
        Command("mise run, mise r, moon run, bazel run", subcommands="*"),
        Command("nox", tasks="-s --session -e --sessions", texts="-p", runs_any=True),
        Command("tox", subcommands="run r run-parallel p list config", tasks="-e", texts="-p", runs_any=True),
        Command("ninja, scons, buck2", speaks="ninja"),
        Command("grunt", prints="", subcommands="*"),
    ),
    closings=(
        r"FAILED: \S{1,200}\.o\b",
        r"\S{1,200}:[0-9]{1,6}:[0-9]{1,5}: ERROR: ",
        r"ERROR: (?:/|//|Analysis of|Skipping)",
        r"Encountered a bad command exit code!",
        r"==\[ FAILURE: [1-9]",
        r"\[[0-9:]{8}\] '[^'\n]{1,100}' errored after",
        r"Aborted due to warnings\.",
        r"task: Failed to run task ",
        r"mise ERROR ",
        r"(?:\[\S{1,80}\] )?ERROR task failed",
        r"nox > (?:Session|Command) [^\n]{1,300} failed",
        r" {0,2}\S{1,40}: FAIL (?:code|✖)",
        r"(?:ERROR|FAILED): (?:Build did NOT|[^\n]{0,300}\bfailed\b)",
        r"scons: \*\*\* ",
        r"ninja: build stopped",
        r"g?make(?:\[[0-9]+\])?: \*\*\* ",
        r"error: Recipe `[^`\n]{1,100}` failed ",
    ),
)
