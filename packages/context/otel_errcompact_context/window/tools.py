"""Tools for the model: read what was cut, and ask for compaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from otel_errcompact.digest import one_line
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.memory.recall import Query, recall_text
from otel_errcompact_context.providers.native import read_json
from otel_errcompact_context.providers.provider import PROVIDERS, ToolDefinition
from otel_errcompact_context.window.room import reserve_of

if TYPE_CHECKING:
    from otel_errcompact_context.window.window import ContextWindow

ToolFormat = Literal["anthropic", "openai-chat", "openai-responses", "gemini", "mcp"]
"""The providers' forms of a tool's definition, and that of the Model Context Protocol."""

ROOM_SHARE: Final = 4
"""What is recalled at once takes at most one part in so many of the room."""

_QUOTED: Final = 100

_RECALL: Final = (
    "Read what was cut from this conversation. A line such as `[errcompact micro: result of read_file, 12,345 tokens; "
    "whole: PLACE]` stands where something was cut; pass its PLACE. Returns the text from its beginning, a range of "
    "lines or characters, or only the lines that hold `search`; says how long the whole is and where to read on."
)
_COMPACT: Final = (
    "Shorten this conversation before your next turn: old results become one line each, and if that is not enough, "
    "early messages are taken out or summarised. Nothing is lost, `{recall}` reads it again. Call it when a part of "
    "the work is done and its details are no longer needed."
)
_ASKED: Final = (
    "The conversation is compacted before your next turn, as far as that saves something. What is cut stays readable "
    "with `{recall}`."
)
_PROPERTIES: Final[dict[str, dict[str, Any]]] = {
    "place": {"type": "string", "description": "What stands behind `whole:` in a marker, letter by letter."},
    "search": {"type": "string", "description": "Return only lines that hold this text; upper and lower case are one."},
    "from_line": {"type": "integer", "description": "The first line, counted from 1."},
    "to_line": {"type": "integer", "description": "The last line, included."},
    "from_character": {"type": "integer", "description": "The first character, counted from 1; instead of lines."},
    "to_character": {"type": "integer", "description": "The last character, included."},
}
_NUMBERS: Final = ("from_line", "to_line", "from_character", "to_character")


class ContextTools:
    """
    The model's tools: `recall` reads what was cut, `compact` asks for compaction.

    Register `tools.definitions("anthropic")` and answer calls with `tools.handle(name, arguments)`; or hand
    `tools.functions` to a framework that makes tools of functions.

    Args:
        window: Whose archive is read, and whose next compaction is asked for.
        session: Whose conversation it is, as `compact` and the guard are given it.
        prefix: Stands before both names, where the agent has tools of these names.
    """

    def __init__(self, window: ContextWindow, *, session: str = "", prefix: str = "") -> None:
        self.window = window
        self.session = session
        self._recall, self._compact = f"{prefix}recall", f"{prefix}compact"

    @property
    def names(self) -> tuple[str, str]:
        """The names of both tools, `recall` first."""
        return self._recall, self._compact

    @property
    def functions(self) -> tuple[Callable[..., str], Callable[..., str]]:
        """Both tools as functions with types and docstrings."""
        return self.recall, self.compact

    def definitions(self, format: ToolFormat = "mcp") -> list[dict[str, Any]]:  # noqa: A002 - the word for it
        """
        Return the definitions of both tools as a provider takes them.

        Args:
            format: Whose form; for Gemini one entry of `tools` that declares both.

        Raises:
            ConfigurationError: The format is not known.
        """
        tools = (
            ToolDefinition(self._recall, _RECALL, _PROPERTIES),
            ToolDefinition(self._compact, _COMPACT.format(recall=self._recall), {}),
        )
        if format == "mcp":
            return [{"name": one.name, "description": one.description, "inputSchema": one.schema} for one in tools]
        if format not in PROVIDERS:
            raise ConfigurationError(
                f"{format!r} is no format of tools; choose one of {', '.join([*PROVIDERS, 'mcp'])}"
            )
        return PROVIDERS[format].define_tools(tools)

    def handle(self, name: str, arguments: Mapping[str, object] | str | None = None) -> str:
        """
        Answer a call of one of both tools.

        Args:
            name: The tool's name.
            arguments: What the model passed, read or as JSON; what is wrong with it, the answer says.

        Raises:
            ConfigurationError: No tool of ours has this name.
        """
        if name == self._compact:
            return self.compact()
        if name != self._recall:
            raise ConfigurationError(f"{name!r} is none of {', '.join(self.names)}: look into `tools.names` first")
        read = _read_arguments(arguments)
        return f"{name}: {read}" if isinstance(read, str) else self._answer_recall(*read)

    def recall(
        self,
        place: str,
        search: str = "",
        from_line: int | None = None,
        to_line: int | None = None,
        from_character: int | None = None,
        to_character: int | None = None,
    ) -> str:
        """
        Read what was cut from this conversation.

        Args:
            place: What stands behind `whole:` in a marker, letter by letter.
            search: Return only lines that hold this text; upper and lower case are one.
            from_line: The first line, counted from 1.
            to_line: The last line, included.
            from_character: The first character, counted from 1; instead of lines.
            to_character: The last character, included.
        """
        given = zip(_NUMBERS, (from_line, to_line, from_character, to_character), strict=True)
        return self.handle(self._recall, {"place": place, "search": search, **dict(given)})

    def compact(self) -> str:
        """Shorten this conversation before the next turn; nothing is lost."""
        self.window.request_compaction(self.session)
        return _ASKED.format(recall=self._recall)

    def _answer_recall(self, place: str, query: Query) -> str:
        window = self.window
        room = window.window_tokens - reserve_of(window.options, window.window_tokens)
        limit = max(1, min(window.options.recall_tokens, room // ROOM_SHARE))
        return recall_text(window.archive, place, query, limit, window.count_tokens)


def _read_arguments(arguments: Mapping[str, object] | str | None) -> tuple[str, Query] | str:
    # What is wrong comes back as a sentence.
    fields = _read_object(arguments)
    if fields is None:
        return "the arguments are no JSON object"
    if unknown := sorted(str(name) for name in fields.keys() - _PROPERTIES.keys()):
        return f"no argument is named {one_line(unknown[0], _QUOTED)}; there are {', '.join(_PROPERTIES)}"
    place, search = fields.get("place", ""), fields.get("search", "")
    if not isinstance(place, str) or not place.strip():
        return "place is missing: pass what stands behind `whole:` in a marker"
    if not isinstance(search, str):
        return "search is no text"
    numbers: dict[str, int] = {}
    for name in _NUMBERS:
        if name in fields:
            number = _read_number(fields[name])
            if number is None:
                return f"{name} is no whole number: {one_line(repr(fields[name]), _QUOTED)}"
            numbers[name] = number
    return place, Query(search, **numbers)


def _read_object(arguments: Mapping[str, object] | str | None) -> dict[str, object] | None:
    given: object = read_json(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(given, Mapping):
        return None
    return {name: value for name, value in cast("Mapping[str, object]", given).items() if value is not None}


def _read_number(value: object) -> int | None:
    # Models write numbers as texts, and JSON of some languages as floats.
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        digits = value.strip().replace(",", "")
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= len(str(10**12)) else None
    return value if isinstance(value, int) else None
