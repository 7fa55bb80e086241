"""
TraceQL and LogQL as the dashboards write them: the part of each language that they use, and nothing beyond it.

Neither Tempo nor Loki is run by these tests. So what their parsers would refuse, and what would find nothing since no
span or record has it, must be found here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.otel import semconv

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTRIBUTES: Final = frozenset(
    {value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str) and "." in value}
    | {"service.name", "deployment.environment.name"}
)
LABELS: Final = frozenset({re.sub(r"\W", "_", name) for name in ATTRIBUTES} | {"severity_text", "detected_level"})
"""Loki writes an underscore for each dot."""

INDEXED: Final = frozenset({"service_name", "deployment_environment_name"})
"""What loki.yaml makes labels of a stream; a selector that names anything else finds nothing."""

STRING: Final = re.compile(r'"(?:[^"\\\n]|\\["\\nt])*"|`[^`]*`')
COMPARED: Final = r"(?:=~|!~|!=|=)\s*\0"
"""A comparison with a string; while the form is looked at, a NUL stands for each string."""

ATTRIBUTE: Final = re.compile(r"\b(?:span|event|resource)\.(?P<name>[a-z_][\w.]*)")
SPANS: Final = re.compile(
    r"\{(?P<where>[^{}]+)\}(?:\s*\|\s*select\((?P<shown>[^()]+)\))?(?:\s*with \(most_recent=true\))?"
)
CONDITION: Final = re.compile(rf"(?:{ATTRIBUTE.pattern}\s*{COMPARED}|status\s*=\s*(?:error|ok|unset))")
SHOWN: Final = re.compile(rf"{ATTRIBUTE.pattern}|status|statusMessage|name|duration")

MATCHER: Final = re.compile(rf"(?P<name>\w+)\s*{COMPARED}")
STAGE: Final = re.compile(rf"(?:(?P<filter>\w+)\s*{COMPARED}|keep (?P<kept>\w+(?:, \w+)*)|line_format\s*\0)")
TEMPLATE: Final = re.compile(r"\{\{(?P<inside>[^{}]*)\}\}")
IN_TEMPLATES: Final = re.compile(r"\.(?P<label>\w+)|(?P<function>[A-Za-z_]\w*)")
FUNCTIONS: Final = frozenset({"__line__", "regexReplaceAll"})


def of_traces(text: str) -> Iterator[str]:
    """Yield what is wrong with a TraceQL query whose variables are filled in."""
    bare, strings = _without_strings(text)
    form = SPANS.fullmatch(bare.strip())
    if form is None or not _closed(form["where"]):
        yield "is no TraceQL"
        return
    for term in re.split(r"&&|\|\|", re.sub(r"[()]", " ", form["where"])):
        if not CONDITION.fullmatch(term.strip()):
            yield f"has the condition {term.strip()!r}"
    for name in (form["shown"] or "status").split(","):
        if not SHOWN.fullmatch(name.strip()):
            yield f"selects {name.strip()!r}"
    yield from (f"asks for the attribute {name}" for name in _distinct(ATTRIBUTE, bare) if name not in ATTRIBUTES)
    yield from _patterns(strings)


def of_records(text: str) -> Iterator[str]:
    """Yield what is wrong with a LogQL query whose variables are filled in."""
    bare, strings = _without_strings(text)
    selector, *stages = (part.strip() for part in bare.split("|"))
    matchers = [MATCHER.fullmatch(each.strip()) for each in selector.removeprefix("{").removesuffix("}").split(",")]
    if not (selector.startswith("{") and selector.endswith("}") and all(matchers)):
        yield "is no LogQL"
        return
    yield from (f"selects by {match['name']}" for match in matchers if match and match["name"] not in INDEXED)
    # Loki refuses a selector all of whose matchers could match the empty string.
    if not re.search(r'=~?\s*"(?!\.\*)[^"]', text.partition("}")[0]):
        yield "could match everything"
    yield from (f"has the stage {stage!r}" for stage in stages if not STAGE.fullmatch(stage))
    yield from (f"asks for the label {name}" for name in sorted(names(text)) if name not in LABELS)
    yield from (f"calls {name}" for name in _in_templates(strings, "function") if name not in FUNCTIONS)
    yield from _patterns([each for each in strings if not TEMPLATE.search(each)])


def names(text: str) -> set[str]:
    """Return the labels that a LogQL query names: in its selector, in its filters, in what it keeps and writes."""
    bare, strings = _without_strings(text)
    found = {match["name"] for match in MATCHER.finditer(bare)} | _in_templates(strings, "label")
    return found.union(*(match["kept"].split(", ") for match in STAGE.finditer(bare) if match["kept"]))


def _in_templates(strings: list[str], kind: str) -> set[str]:
    """Return what the templates name, outside of the strings that they hold themselves."""
    inside = [match["inside"] for text in strings for match in TEMPLATE.finditer(text)]
    bare = [STRING.sub("", each) for each in inside]
    return {match[kind] for each in bare for match in IN_TEMPLATES.finditer(each) if match[kind]}


def _patterns(strings: list[str]) -> Iterator[str]:
    for each in strings:
        try:
            re.compile(each)
        except re.error:
            yield f"has the pattern {each!r}"


def _distinct(pattern: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(match["name"] for match in pattern.finditer(text)))


def _without_strings(text: str) -> tuple[str, list[str]]:
    """Return a text with a NUL for each string, and what the strings say."""
    return STRING.sub("\0", text), [match[0][1:-1] for match in STRING.finditer(text)]


def _closed(text: str) -> bool:
    """Return whether every bracket that is opened is closed behind it."""
    depth = 0
    for bracket in re.findall(r"[()]", text):
        depth += 1 if bracket == "(" else -1
        if depth < 0:
            return False
    return depth == 0
