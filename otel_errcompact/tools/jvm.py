"""Stacks of Java, Kotlin, Scala, Groovy and Clojure, and what Java and Spring Boot say when a program cannot start."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Location, Text, clip, details, form
from otel_errcompact.extract.stacks.jvm import chains_of
from otel_errcompact.extract.stacks.printed import facts_of_stacks
from otel_errcompact.runtime.records import replace

_CLOJURE: Final = form(
    r"\n(?:Execution error|Syntax error|Error|Execution error - invalid arguments to {word})(?: \("
    r"(?P<type>[\w.$]{1,200})\))?(?P<what> (?:compiling|macroexpanding|reading source)[^\n]{0,200}?)? at (?:"
    r"(?P<function>[^\s()]{1,300}) )?\((?P<file>[^\s():]{1,300}):{line}(?::{number})?\)\.\n(?P<message>[^\n]{1,2000})"
)
_SECTION: Final = form(
    r"\nDescription:\n\n(?P<said>[^\n]+(?:\n+(?!Action:)[^\n]+){0,20})(?:\n+Action:\n\n(?P<action>[^\n]+))?"
)


def read(text: Text) -> Facts | None:
    """Return the facts of the last chain of exceptions in `text`, or of the report that stands in its place."""
    body = text.body
    if "APPLICATION FAILED TO START" in body:
        report = _failed_start(body)
        if report is not None:
            return report
    if "Full report at:" in body:
        report = _read_clojure(body)
        if report is not None:
            return report
    chains = chains_of(text.lines)
    if not chains:
        return None
    facts = facts_of_stacks(chains)
    if "\tat py4j." in body and not any(failure.own for chain in chains for failure in chain):
        # Python has called it, and knows the place.
        raised = f"raised in {facts.location}"
        return replace(facts, location=Location(), details=details((raised, *facts.details)))
    return facts


# --- reports ---------------------------------------------------------------------------------------------------------


def _failed_start(body: str) -> Facts | None:
    # Read Spring Boot's report of why an application could not start.
    found = _SECTION.search(body, body.rfind("APPLICATION FAILED TO START"))
    if found is None:
        return None
    said = [line.strip() for line in found["said"].split("\n") if line.strip()]
    return Facts(
        type="ApplicationFailedToStart",
        cause=clip(said[0]),
        details=details((*said[1:4], f"action: {found['action']}" if found["action"] else "")),
    )


def _read_clojure(body: str) -> Facts | None:
    # Read the report that Clojure's command line prints in place of a stack.
    found = _CLOJURE.search(f"\n{body}")
    if found is None:
        return None
    what = found["what"]
    return Facts(
        type=found["type"] or ("CompilerException" if what else "Exception"),
        cause=clip(found["message"]),
        location=Location(function=found["function"] or "", file=found["file"], line=int(found["line"])),
    )


FORMAT: Final = Format(
    name="jvm",
    read=read,
    markers=("\tat ", ".java:", "Caused by: ", "Exception in thread", "Full report at:", "APPLICATION FAILED TO START"),
    commands=(Command("java", interprets=True, speaks="java"), Command("kotlin, scala")),
    closings=(r"e: (?:file://|/)\S{1,300}:[0-9]{1,7}:[0-9]{1,7} ",),
    stacks=(
        r"APPLICATION FAILED TO START",
        r"(?:Caused by: )?(?:[a-z]\w{0,60}\.){1,9}[A-Z]\w{0,80}(?:Exception|Error)(?:: [^\n]{0,2000})?\n\tat ",
        r"Exception in thread \"",
    ),
)
