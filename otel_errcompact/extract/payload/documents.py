"""Documents: XML, forms and outlines, decoded to the values of JSON."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl

from otel_errcompact.extract.entities import unescape
from otel_errcompact.extract.payload.values import is_list, is_object
from otel_errcompact.runtime.lazy import lazy_pattern

MAX_TAGS: Final = 2_000
"""Tags of an XML document that are read."""

MAX_DEPTH: Final = 32
"""Elements inside elements that are read; what stands deeper belongs to its parents."""

_MAX_LINES: Final = 200
_MAX_DIGITS: Final = 18
_MAX_FORM: Final = 4_096
_TAG: Final = lazy_pattern(r"/?(?P<name>[A-Za-z_][\w:.-]{0,80})")
_ATTRIBUTE: Final = lazy_pattern(r"([A-Za-z_][\w:.-]{0,80})=(?:\"([^\"]{0,2000})\"|'([^']{0,2000})')")
_CHARACTERS: Final = "![CDATA["
_ENDS_OF_MARKUP: Final = {"!--": "-->", _CHARACTERS: "]]>"}
_FORM: Final = lazy_pattern(r"[\w.%\[\]-]{1,80}=[^\s&=]{0,1000}(?:&[\w.%\[\]-]{1,80}=[^\s&=]{0,1000}){1,40}")
_PAIR: Final = lazy_pattern(
    r"(?P<name>[A-Za-z_@][\w.@-]{0,60})=(?:\"(?P<quoted>(?:[^\"\\]|\\.){0,4000})\"?|(?P<plain>[^\s\"]{0,1000}))(?: |$)"
)
_ENTRY: Final = lazy_pattern(
    r"(?P<indent> {0,40})(?P<item>- )?(?P<name>[A-Za-z_@][\w.@-]{0,60}):(?: (?P<value>\S.{0,2000}))?$"
)
_ITEM: Final = lazy_pattern(r"(?P<indent> {0,40})- (?P<value>\S.{0,2000})$")


def read_xml(text: str) -> dict[str, Any] | None:
    """Return an XML document as nested objects; entities stay as they are."""
    root: dict[str, Any] = {}
    stack: list[tuple[str, dict[str, Any]]] = [("", root)]
    ends_with = ""
    for number, chunk in enumerate(text.split("<", MAX_TAGS)):
        if not ends_with:
            ends_with = next((end for start, end in _ENDS_OF_MARKUP.items() if chunk.startswith(start)), "")
        if ends_with:
            held, closing, _ = chunk.removeprefix(_CHARACTERS).partition(ends_with)
            _add_text(stack[-1][1], held if ends_with == _ENDS_OF_MARKUP[_CHARACTERS] else "")
            ends_with = "" if closing else ends_with
            continue
        tag, _, said = chunk.partition(">") if number else ("", "", chunk)
        _apply_tag(stack, tag)
        _add_text(stack[-1][1], unescape(said))
    return _simplify_element(root) if len(root) > ("#text" in root) else None


def _apply_tag(stack: list[tuple[str, dict[str, Any]]], tag: str) -> None:
    found = _TAG.match(tag)
    if found is None:
        return
    name = found["name"]
    if tag[0] == "/":
        if any(name == opened for opened, _ in stack):
            while stack[-1][0] != name:
                stack.pop()
            stack.pop()
        return
    element: dict[str, Any] = {at: unescape(first or second) for at, first, second in _ATTRIBUTE.findall(tag[:4_000])}
    parent = stack[-1][1]
    before = parent.get(name)
    if is_list(before):
        before.append(element)
    else:
        parent[name] = element if before is None or isinstance(before, str) else [before, element]
    if not tag.endswith("/") and len(stack) < MAX_DEPTH:
        stack.append((name, element))


def _add_text(element: dict[str, Any], text: str) -> None:
    if text.strip():
        before = element.get("#text")
        element["#text"] = f"{before} {text.strip()}" if before else text.strip()


def _simplify_element(element: dict[str, Any], depth: int = 0) -> Any:
    if set(element) <= {"#text"}:
        return element.get("#text", "")
    for name, value in element.items():
        if is_object(value):
            element[name] = _simplify_element(value, depth + 1)
        elif is_list(value):
            element[name] = [_simplify_element(item, depth + 1) for item in value]
    return element


def read_form(text: str) -> dict[str, str] | None:
    """Return the fields of a form as browsers encode it, or nothing."""
    if "=" not in text or "&" not in text or len(text) > _MAX_FORM or _FORM.fullmatch(text) is None:
        return None
    return dict(parse_qsl(text))


def read_pairs(line: str) -> dict[str, str]:
    """Return the fields of `level=error msg="no route"`; empty for other lines."""
    fields: dict[str, str] = {}
    position = 0
    while found := _PAIR.match(line, position):
        quoted = found["quoted"]
        fields[found["name"]] = (
            quoted.replace('\\"', '"').replace("\\n", "\n") if quoted is not None else found["plain"]
        )
        position = found.end()
    return fields if position >= len(line) else {}


def read_outline(text: str) -> dict[str, Any] | None:
    """Return indented names and values, as YAML writes them, or nothing."""
    lines = [line for line in text.split("\n", _MAX_LINES)[:_MAX_LINES] if line.strip() and line.strip() != "---"]
    root: dict[str, Any] = {}
    stack: list[tuple[int, Any, Any, str]] = [(-1, root, None, "")]
    for line in lines:
        entry = _ENTRY.match(line)
        if entry is None:
            item = _ITEM.match(line)
            if item is None or not _add_item(stack, len(item["indent"]), _read_scalar(item["value"])):
                return None
            continue
        indent = len(entry["indent"])
        if entry["item"]:
            fields: dict[str, Any] = {}
            if not _add_item(stack, indent, fields):
                return None
            stack.append((indent + 1, fields, None, ""))
            indent += len("- ")
        while len(stack) > 1 and stack[-1][0] >= indent:
            stack.pop()
        parent = stack[-1][1]
        if not is_object(parent):
            return None
        if entry["value"]:
            parent[entry["name"]] = _read_scalar(entry["value"])
        else:
            child: dict[str, Any] = {}
            parent[entry["name"]] = child
            stack.append((indent, child, parent, entry["name"]))
    return root if len(root) > 1 or (root and len(lines) > 1) else None


def _add_item(stack: list[tuple[int, Any, Any, str]], indent: int, value: object) -> bool:
    while len(stack) > 1 and stack[-1][0] > indent:
        stack.pop()
    at, held, parent, name = stack[-1]
    if parent is None:
        return False
    if is_object(held):
        if held:
            return False
        items: list[Any] = []
        held = parent[name] = items
        stack[-1] = (at, held, parent, name)
    held.append(value)
    return True


def _read_scalar(text: str) -> object:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.isdecimal() and len(text) <= _MAX_DIGITS:
        return int(text)
    return {"true": True, "false": False, "null": None, "~": None, "|": "", ">": ""}.get(text, text)
