"""Failed builds of Maven and Gradle: compiler errors, dependencies that cannot be resolved, broken build files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.grammar import Command, Facts, Format, Lines, Location, Text, form, place_of, read_total
from otel_errcompact.extract.members import Member, facts_of_members

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMPILER: Final = form(
    r"(?:file://)?(?P<file>[^\s:\[(]{0,400}\.(?P<language>java|kt|kts|scala|groovy)):(?: ?\[{line},"
    r"(?P<column>{number})\]| \((?P<row>{number}), ?{number}\):?) {message}$"
)
_LABELLED: Final = form(r"\s+(?P<label>symbol|location|required|found|reason): {1,4}(?P<said>\S.*)$")
_COMPILERS: Final = {"java": "javac", "kt": "kotlinc", "kts": "kotlinc", "scala": "scalac", "groovy": "groovyc"}
_PROJECT: Final = form(r"  The project \S{0,300} ?\((?P<file>[^()\n]{1,400})\) has {number} errors?$")
_POM_LINE: Final = form(r" ?@ (?:[^\n]{0,200}, )?line {line}, column {number}")
_GOAL: Final = form(
    r"Failed to execute goal (?:(?:[\w.-]{1,200}:)?(?P<plugin>[\w.-]{1,200}):[\w.-]{1,100}:(?P<goal>[\w-]{1,100}) "
    r"(?:\([^()\n]{1,200}\) )?)?on project (?P<project>[\w.-]{1,200}):(?: |$)"
)
_HELP: Final = form(r" -> \[Help [0-9]{1,3}\]$")
_HELP_PAGE: Final = form(r"\n\[ERROR\] \[Help 1\] http{word}/MAVEN/(?P<type>\w{1,100})")
_ADVICE: Final = (
    "To see the full stack trace", "Re-run Maven", "For more information about", "[Help ", "-> [Help ",
    "Please refer to ", "After correcting the problems", "  mvn <args> -rf", "The build could not read", "[ERROR]",
    "COMPILATION ERROR",
)  # fmt: skip
"""What Maven says however a build failed."""

_MAX_LEAD: Final = 120
"""Characters of a line that only leads to the next one."""

_CACHED: Final = form(
    r" (?:during a previous attempt\. This failure was cached in the local repository and resolution is not reattempted"
    r" until the update interval of \S{1,100} has elapsed or updates are forced|from/to \S{1,100} \([^()\n]{1,300}\))"
)
_COORDINATES: Final = form(r"Could not resolve dependencies for project {word}: ")
_LIFECYCLE: Final = form(r"(Unknown lifecycle phase \"[^\"\n]{1,100}\"\.).*")

_WENT_WRONG: Final = form(r"\n\* What went wrong:\n(?P<said>(?:(?!\* )[^\n]+\n?|\n(?!\n|\* |{number}: )){1,60})")
_WHERE: Final = form(r"(?:[A-Z][\w ]{1,40})?'(?P<file>[^'\n]{1,400})' line: {line}")
_TASK: Final = form(r"Execution failed for task '(?P<task>[^'\n]{1,200})'")
_NO_CAUSE: Final = (
    "Searched in the following", "Required by:", "Run with --", "See the ", "There were failing tests",
    "If the artifact you are trying",
)  # fmt: skip
_FAILURES: Final = form(r"\nFAILURE: Build completed with (?P<count>{number}) failures")


def read(text: Text) -> Facts | None:
    """Return the facts of a failed build."""
    body = f"\n{text.body}\n"
    if "\n* What went wrong:" in body:
        return _read_gradle(body)
    records = [line[len("[ERROR] ") :] for line in text.lines if line.startswith("[ERROR] ")]
    if not records:
        return None
    members = _read_compile_errors(text.lines)
    if members:
        return facts_of_members(members, unit="error", first_is_root=True)
    return _broken_project(records) or _read_goal(records, body)


# --- Maven -----------------------------------------------------------------------------------------------------------


def _read_compile_errors(lines: Lines) -> list[Member]:
    # Return the compiler's errors, which Maven prints when they happen and once again at the end.
    found: dict[tuple[str, ...], Member] = {}
    for number, raw in enumerate(lines):
        match = _COMPILER.match(raw, len("[ERROR] ")) if raw.startswith("[ERROR] ") else None
        if match is None:
            continue
        line = match["line"] or match["row"]
        place = Location(file=match["file"], line=int(line))
        message = _complete_message(match["message"], lines[number + 1 : number + 5], place.file)
        member = Member(_COMPILERS[match["language"]], message, place)
        found.setdefault((place.file, line, match["column"] or "", message), member)
    return list(found.values())


def _complete_message(message: str, after: Lines, file: str) -> str:
    # Complete `cannot find symbol` and its like by what javac says in the lines below.
    said: dict[str, str] = {}
    for line in after:
        found = _LABELLED.match(line.removeprefix("[ERROR] "))
        if found is None:
            break
        said[found["label"]] = " ".join(found["said"].split())
    if "symbol" in said:
        message = f"{message}: {said['symbol']}"
    place = said.get("location", "")
    if place and place.rpartition(".")[2] != file.rpartition("/")[2].partition(".")[0]:
        message = f"{message} in {place}"
    more = (f"{label} {said[label]}" for label in ("required", "found", "reason") if label in said)
    return "; ".join((message.rstrip(";"), *more))


def _broken_project(records: Lines) -> Facts | None:
    # Read what Maven says of project files that it cannot understand.
    members: list[Member] = []
    file = ""
    for line in records:
        project = _PROJECT.match(line)
        if project is not None:
            file = project["file"]
        elif file and line.startswith("    "):
            members.append(_project_error(line.strip(), file))
        elif file:
            break
    return facts_of_members(members, unit="error", first_is_root=True)


def _project_error(message: str, file: str) -> Member:
    message = _HELP.sub("", message)
    found = _POM_LINE.search(message)
    line = int(found["line"]) if found else None
    cause = message[: found.start()].rstrip() if found else message
    return Member("ProjectBuildingException", clip(cause), Location(file=file, line=line))


def _read_goal(records: Lines, body: str) -> Facts | None:
    said = [line for line in map(str.rstrip, records) if line.strip() and not line.startswith(_ADVICE)]
    final = next((number for number, line in enumerate(said) if _is_final(line)), -1)
    if final < 0:
        return None
    goal = _GOAL.match(said[final])
    message = said[final][goal.end() :] if goal is not None else said[final]
    helped = _HELP_PAGE.search(body)
    more = [line.strip() for line in said[final + 1 : final + 8]]
    cause = _condense_message(message)
    while more and (not cause or (cause.endswith(":") and len(cause) < _MAX_LEAD)):
        cause, more = f"{cause} {more[0]}".strip(), more[1:]
    plugin = f"{goal['plugin']}:{goal['goal']}: " if goal is not None and goal["plugin"] else ""
    return Facts(
        type=helped["type"] if helped else "BuildFailure",
        cause=clip(f"{plugin}{cause}"),
        details=details(map(_condense_message, more)),
    )


def _is_final(line: str) -> bool:
    return _HELP.search(line) is not None or line.startswith(("Failed to execute goal ", "Unknown lifecycle phase"))


def _condense_message(message: str) -> str:
    message = _CACHED.sub("", _HELP.sub("", message))
    return _LIFECYCLE.sub(r"\1", _COORDINATES.sub("Could not resolve dependencies: ", message)).strip()


# --- Gradle ----------------------------------------------------------------------------------------------------------


def _read_gradle(body: str) -> Facts | None:
    # Read Gradle's account of what went wrong, one section for each failed task.
    members = (_read_section(found["said"], _find_place(body, found.start())) for found in _WENT_WRONG.finditer(body))
    return facts_of_members(members, unit="failure", total=read_total(body, _FAILURES))


def _find_place(body: str, end: int) -> Location:
    start = body.rfind("\n* Where:\n", max(0, end - 600), end)
    return place_of(_WHERE.search(body, start, end) if start >= 0 else None)


def _read_section(said: str, place: Location) -> Member:
    # Read one section: causes are listed from the outside in, each behind a `>`.
    task = _TASK.match(said)
    lines = list(_list_causes(said.split("\n")))
    causes = [cause for mark, cause in lines if mark] or [cause for _, cause in lines[:1]]
    steps = [cause for _, cause in lines if cause != causes[-1] and not _TASK.match(cause)]
    name = f"task {task['task']}" if task else ""
    key = f"{causes[-1]} ({name})" if name else ""
    return Member("BuildFailure", clip(causes[-1]), place, name, tuple(steps[:3]), key)


def _list_causes(lines: Lines) -> Iterator[tuple[bool, str]]:
    # Yield what a section says, each with whether a `>` marks it, without where Gradle searched and what it advises.
    skipping = -1
    for line in lines:
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        if 0 <= skipping < indent:
            continue
        said = stripped.lstrip("> ")
        skipping = indent if said.startswith(_NO_CAUSE) else -1
        if said and skipping < 0:
            yield stripped.startswith(">"), said


FORMAT: Final = Format(
    name="maven",
    read=read,
    markers=("[ERROR] ", "* What went wrong:"),
    commands=(
        Command("mvn, mvnw", prints="maven junit jvm", subcommands="*", scopes="-f -pl -P"),
        Command("gradle, gradlew", prints="maven junit jvm", subcommands="*", scopes="-p -x"),
        Command("sbt", prints="maven jvm", subcommands="*"),
        Command("ant"),
    ),
    closings=(
        r"> Task \S{1,100} FAILED",
        (
            r"\[ERROR\] {1,4}(?:/\S|Failures:|Errors:|The goal|\S{1,200}\.(?:java|kt)|Re-run|For more information"
            r"|To see the full)"
        ),
        r"\[ERROR\] (?:COMPILATION ERROR|BUILD FAILURE|Failed to execute|Tests run:)",
        r"\[INFO\] BUILD FAILURE",
        r"BUILD FAILED\b",
        r"FAILURE: Build failed",
    ),
    passes=(r"\[INFO\] BUILD SUCCESS", r"BUILD SUCCESS"),
)
