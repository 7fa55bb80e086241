"""Calls of tools: refused before, counted and digested after."""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.records import dataclass
from otel_errcompact_hosts.mcp_proxy.messages import Message, make_answer, make_tool_error, params_of
from otel_errcompact_hosts.payloads import as_records, record_of, text_of

if TYPE_CHECKING:
    from otel_errcompact.boundary import Run, RunRegistry
    from otel_errcompact.boundary.call import Call
    from otel_errcompact_context.memory.archive import Archive

_logger: Final = logging.getLogger("otel_errcompact")

DEFAULT_CLIENT: Final = "mcp"
"""The agent's name where the client does not say its own."""

FOR_PROGRAMS: Final = frozenset({-32042, -32022, -32021, -32020, -32800})
"""Codes by which a server asks the client's program for something: a URL, a capability, another version; cancelled."""

_LONGER: Final = 4
"""A raw text that is so many times as long as its digest holds more than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the server is executing."""

    request: Message
    tool: str
    arguments: Message
    began: int
    """The tick at which the agent asked for it."""


class ToolCalls:
    """The tool calls of one client: one run."""

    def __init__(self, runs: RunRegistry, archive: Archive | None = None) -> None:
        self.run_id: Final = f"mcp-{os.urandom(16).hex()}"
        self.client = DEFAULT_CLIENT
        """The client's name, which it says when it begins."""
        self._runs = runs
        self._archive = archive

    async def begin(self, request: Message) -> ToolCall | Message:
        """Return a call to be executed, or the answer that refuses it."""
        params, port = params_of(request), self._run.port
        call = ToolCall(
            request=request,
            tool=str(params.get("name", "")),
            arguments=record_of(params, "arguments"),
            began=port.mark_request(),
        )
        refusal = await port.arefuse(call.tool, arguments=call.arguments, began=call.began)
        return make_answer(request, make_tool_error(refusal)) if refusal else call

    async def conclude(self, call: ToolCall, answer: Message) -> Message | None:
        """Count an answer, and return what stands in its place, if anything."""
        error, result = record_of(answer, "error"), record_of(answer, "result")
        if error:
            text = error.get("message")
            code = error.get("code")
            if (isinstance(code, int) and code in FOR_PROGRAMS) or not isinstance(text, str):
                return None
            digest = await self._digest_text(call, text)
            return None if digest is None else {**answer, "error": {**error, "message": digest}}
        if result.get("resultType", "complete") != "complete" or "task" in result:
            return None  # it asks for more, or will be answered later
        if result.get("isError") is not True:
            self._record_call(call)
            return None
        digest = await self._digest_text(call, _read_text(result))
        return None if digest is None else {**answer, "result": _replace_text(result, digest)}

    async def fail(self, call: ToolCall, text: str) -> Message:
        """Return the answer to a call that no server will answer."""
        digest = await self._digest_text(call, text)
        return make_answer(call.request, make_tool_error(text if digest is None else digest))

    def end(self) -> None:
        """End the run: its client is gone."""
        self._runs.end(self.run_id)

    @property
    def _run(self) -> Run:
        return self._runs.of(self.run_id, agent=self.client)

    def _record_call(self, call: ToolCall, error: str | None = None) -> Call:
        return self._run.port.record_call(call.tool, arguments=call.arguments, error=error, began=call.began)

    async def _digest_text(self, call: ToolCall, raw: str) -> str | None:
        recorded = self._record_call(call, raw)
        if not recorded.compacted:
            return None
        await self._run.port.aask_handler()
        text = recorded.text
        return f"{text}\n{reference}" if (reference := self._keep_text(raw, text)) else text

    def _keep_text(self, raw: str, digest: str) -> str:
        if self._archive is None or _holds_lines(digest, raw):
            return ""
        try:
            return f"Raw output ({len(raw):,} characters): {self._archive.keep(raw)}"
        except OSError as error:
            _logger.warning("the raw text of a failure is not kept for the agent: %s", error)
            return ""


def _holds_lines(digest: str, raw: str) -> bool:
    if len(raw) > _LONGER * len(digest):
        return False
    return all(line.strip() in digest for line in raw.splitlines())


def _read_text(result: Message) -> str:
    # With what is structured, unless the text says it.
    texts = [text for block in as_records(result.get("content")) if (text := _text_of_block(block))]
    structured = result.get("structuredContent")
    if structured is not None and not any(_says(text, structured) for text in texts):
        texts.append(json.dumps(structured, ensure_ascii=False))
    return "\n".join(texts) or "the result is flagged as an error and holds no text"


def _says(text: str, structured: object) -> bool:
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False


def _replace_text(result: Message, digest: str) -> Message:
    # Without what is structured: a client may show it in place of the digest.
    others: list[object] = [block for block in as_records(result.get("content")) if not _text_of_block(block)]
    kept = {name: value for name, value in result.items() if name != "structuredContent"}
    return {**kept, "content": [{"type": "text", "text": digest}, *others], "isError": True}


def _text_of_block(block: Message) -> str:
    return text_of(block, "text") or text_of(record_of(block, "resource"), "text")
