"""Claude Agent SDK: hooks that keep large results out of the context."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.config import Options
from otel_errcompact.digest.tokens import default_counter
from otel_errcompact.integrations.requirement import required
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact_context.memory.markers import is_marked, marker
from otel_errcompact_context.window.layers.keeping import describe
from otel_errcompact_context.window.shortening import shorten
from otel_errcompact_context.window.window import ContextWindow

with required("claude-agent-sdk", "0.2.187", extra="claude_agent"):
    from claude_agent_sdk import HookMatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from claude_agent_sdk.types import HookEvent

    from otel_errcompact.boundary.registry import RunRegistry

    Event = Mapping[str, Any]
    Output = dict[str, Any]
    Hooks = dict[HookEvent, list[HookMatcher]]
    Place = tuple[str | int, ...]

MAX_SESSIONS: Final = 1_000

CONFIRMING: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
"""Tools of which the model reads a confirmation, whatever their output holds."""


class WindowHooks:
    """
    Keeps large results out of a Claude agent's context.

        options = ClaudeAgentOptions(hooks=WindowHooks().hooks())

    The command line keeps the context itself: no hook is handed the messages. Of a result that costs more than the
    window's `result_budget_tokens` the model reads a preview and the place of the whole. Before the command line
    compacts, its transcript goes to the archive, and afterwards the model is told where it lies.

    Args:
        window: Whose archive and options count; if None made of the environment's options, counting as Claude does
            where these name no model.
        runs: Those of the `CompactionHooks` beside it: after a compaction their digests say all again.
    """

    def __init__(self, window: ContextWindow | None = None, *, runs: RunRegistry | None = None) -> None:
        self.window: Final = window or ContextWindow(
            count_tokens=default_counter(Options.from_environ().context.model or "claude")
        )
        self._runs = runs
        self._places: BoundedTable[str, str] = BoundedTable(MAX_SESSIONS)
        """Where the transcripts lie that the command line is about to compact, by session."""

    def hooks(self, *others: Hooks) -> Hooks:
        """Return the hooks for the options, merged with your own."""
        mine: dict[str, Any] = {"PostToolUse": self._shorten, "PreCompact": self._keep, "SessionStart": self._tell}
        merged = {name: [HookMatcher(hooks=[hook])] for name, hook in mine.items()}
        for name, matchers in (item for hooks in others for item in hooks.items()):
            merged[name] = [*merged.get(name, ()), *matchers]
        return cast("Hooks", merged)  # the SDK's type of names lacks some that the command line has

    async def _shorten(self, event: Event, *_: object) -> Output:
        tool, response = event["tool_name"], event["tool_response"]
        shorter = response
        try:
            shorter = response if tool in CONFIRMING else self._fit(tool, response)
        except OSError as error:  # what cannot be kept is not cut
            self.window.guard.record_failure("context.results", error, fatal=False)
        return {} if shorter is response else _output("PostToolUse", updatedToolOutput=shorter)

    async def _keep(self, event: Event, *_: object) -> Output:
        try:
            self._archive(event)
        except OSError as error:
            self.window.guard.record_failure("context.transcript", error, fatal=False)
        if self._runs is not None:
            self._runs.of(event["session_id"]).forget_shown()
        return {}

    async def _tell(self, event: Event, *_: object) -> Output:
        line = self._places.pop(event["session_id"]) if event.get("source") == "compact" else None
        return _output("SessionStart", additionalContext=line) if line else {}

    def _archive(self, event: Event) -> None:
        text = Path(event["transcript_path"]).read_text(encoding="utf-8")
        what = f"{text.count(chr(10)):,} lines of transcript"
        self._places.put(event["session_id"], marker("summary", what, self.window.archive.keep(text)))

    def _fit(self, tool: str, response: object) -> object:
        options, count = self.window.options, self.window.count_tokens
        sizes = {path: count(text) for path, text in _texts(response)}
        excess = sum(sizes.values()) - options.result_budget_tokens
        for path, text in sorted(_texts(response), key=lambda found: -sizes[found[0]]):
            if excess <= 0 or sizes[path] <= options.preview_tokens:
                break
            if is_marked(text):
                continue
            line = marker("results", describe(tool, sizes[path], failed=None), self.window.archive.keep(text))
            preview = f"{line}\n{shorten(text, options.preview_tokens, count)}"
            if count(preview) < sizes[path]:
                response = _with_text(response, path, preview)
                excess -= sizes[path] - count(preview)
        return response


def _texts(value: Any, path: Place = ()) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        # A picture or another file is no text.
        if not {"media_type", "mimeType", "base64"} & value.keys():
            for key, inner in value.items():
                yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _texts(inner, (*path, place))


def _with_text(value: Any, path: Place, text: str) -> Any:
    if not path:
        return text
    made: Any = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = _with_text(value[path[0]], path[1:], text)
    return made


def _output(hook: str, **told: object) -> Output:
    return {"hookSpecificOutput": {"hookEventName": hook, **told}}
