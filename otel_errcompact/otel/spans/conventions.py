"""
Read: map the attributes of each instrumentation to one convention.

The rest of the library reads one convention, the official one of OpenTelemetry for generative AI. A row names where
another instrumentation puts the same things, and its spans are translated. A new instrumentation is a row here and a
recording in `tests/otel/recorded/`.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.otel import sdk, semconv
from otel_errcompact.otel.data import read_text
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from opentelemetry.sdk.trace import ReadableSpan

    from otel_errcompact.otel.data import EndedSpan

BOUNDARIES: Final = semconv.MODEL_OPERATIONS | {semconv.SPAN_TOOL}
"""Operations whose outcome an agent sees."""

PLAIN: Final = ""
UNDECIDED: Final = "untold"
"""The operation of a span that names it only at its end."""

MAX_PARSED: Final = 100_000
"""Characters of an attribute that are read as JSON."""

if TYPE_CHECKING:
    Source = str | Callable[[EndedSpan], str]
    """The name of an attribute, or a function that reads more than one."""


def _read_member(name: str, *keys: str) -> Callable[[EndedSpan], str]:
    """Return the first of these JSON members, or the whole attribute."""

    def read(span: EndedSpan) -> str:
        text = span.text(name)
        # Most values are the arguments themselves: parsed only where a member may be there.
        if len(text) > MAX_PARSED or not any(f'"{key}"' in text for key in keys):
            return text
        try:
            packed = json.loads(text)
        except (ValueError, RecursionError):
            return text
        members = cast("dict[str, object]", packed) if isinstance(packed, dict) else {}
        found = next((members[key] for key in keys if key in members), None)
        return text if found is None else found if isinstance(found, str) else json.dumps(found)

    return read


def _read_event(event: str, attribute: str) -> Callable[[EndedSpan], str]:
    """Read an attribute of the first event with a name."""

    def read(span: EndedSpan) -> str:
        found = next((each for each in span.events if each.name == event), None)
        return read_text(cast("Mapping[str, object]", found.attributes), attribute) if found is not None else ""

    return read


def _read_description(span: EndedSpan) -> str:
    return span.description or ""


_QUOTED: Final = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_AGENTS_ERROR: Final = lazy_pattern(rf"""['"]error['"]: ?{_QUOTED}""", re.DOTALL)
_AGNO_FAILED: Final = lazy_pattern(rf"status='failure' [^'\"]{{0,100}}error={_QUOTED}", re.DOTALL)


def _read_quoted(pattern: re.Pattern[str], source: Source) -> Callable[[EndedSpan], str]:
    """Read the Python or JSON string that a pattern finds."""

    def read(span: EndedSpan) -> str:
        found = pattern.search(_read_first((source,), span)[:MAX_PARSED])
        if found is None:
            return ""
        try:
            return str(ast.literal_eval(found[1]))
        except (ValueError, SyntaxError):
            return found[1][1:-1]

    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """
    Where the spans of some instrumentation scopes hold what.

    The first source with a value counts; an attribute of the official convention is always a source.
    """

    name: str
    scopes: tuple[str, ...] = ()
    """Instrumentation scopes; one that ends with a dot is a prefix."""

    kind: str = ""
    """The attribute that names the kind of a span."""

    kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    """Its values, as operations."""

    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """First words of span names, as operations, where no attribute names the kind."""

    beginnings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other beginnings of such names, as operations."""

    endings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Endings of such names, as operations."""

    no_calls: tuple[str, ...] = ()
    """Endings of the names of spans that make no call, whatever their attributes are."""

    decides_late: bool = False
    """Whether a span may start without naming its kind."""

    tool: tuple[Source, ...] = ()
    call_id: tuple[Source, ...] = ()
    arguments: tuple[Source, ...] = ()
    conversation: tuple[Source, ...] = ()
    agent: tuple[Source, ...] = ()

    error: tuple[Source, ...] = ()
    """The text of a failure that has no exception event."""

    hidden_error: tuple[Source, ...] = ()
    """The text of a failure whose span has no status ERROR."""

    typed: bool = True
    """Whether `error.type` holds a type."""

    note: str = ""
    """A peculiarity of these spans; for the documentation."""

    def classify(self, name: str, attributes: Mapping[str, object]) -> str:
        """
        Return the operation of a span that starts, if it names one.

        `PLAIN` if of no interest, `UNDECIDED` if it names none yet.
        """
        found = self._find_operation(name, attributes)
        return (UNDECIDED if self.decides_late else PLAIN) if found is None else found

    def translate(self, span: EndedSpan) -> EndedSpan:
        """Return an ended span in the words of the official convention."""
        attributes = dict(span.attributes)
        operation = self._find_operation(span.name, attributes)
        if operation is not None:
            attributes[semconv.GEN_AI_OPERATION_NAME] = operation
        wanted = {semconv.GEN_AI_CONVERSATION_ID: self.conversation, semconv.GEN_AI_AGENT_NAME: self.agent}
        if operation == semconv.SPAN_TOOL:
            wanted[semconv.GEN_AI_TOOL_NAME] = self.tool
            wanted[semconv.GEN_AI_TOOL_CALL_ID] = self.call_id
            wanted[semconv.GEN_AI_TOOL_CALL_ARGUMENTS] = self.arguments
        for name, sources in wanted.items():
            if found := _read_first(sources, span):
                attributes[name] = found
        error = _read_first(self.hidden_error if not span.failed else self.error, span)
        if not self.typed:
            attributes.pop(semconv.ERROR_TYPE, None)
        return span._replace(
            attributes=attributes, failed=span.failed or bool(error), description=error or span.description
        )

    def _find_operation(self, name: str, attributes: Mapping[str, object]) -> str | None:
        if self.no_calls and name.endswith(self.no_calls):
            return PLAIN
        if official := read_text(attributes, semconv.GEN_AI_OPERATION_NAME):
            return official
        if self.kind and (kind := read_text(attributes, self.kind)):
            return self.kinds.get(kind, PLAIN)
        if (word := name.split(" ", 1)[0]) in self.words:
            return self.words[word]
        for beginning, operation in self.beginnings.items():
            if name.startswith(beginning):
                return operation
        return next((operation for ending, operation in self.endings.items() if name.endswith(ending)), None)


def _read_first(sources: tuple[Source, ...], span: EndedSpan) -> str:
    for source in sources:
        if found := span.text(source) if isinstance(source, str) else source(span):
            return found
    return ""


_REDACTED: Final = "The SDK takes the text out of a failure that it hands to the model"

_WORDS: Final = {
    **{word: word for word in (*sorted(BOUNDARIES), *sorted(semconv.AGENTS))},
    semconv.MCP_TOOL_CALL: semconv.SPAN_TOOL,
}
"""First words of the names of official spans, as operations."""

OFFICIAL: Final = Convention(
    name="OpenTelemetry GenAI",
    words=_WORDS,
    note="The official instrumentations name the conversation on the agent's span alone, and only when it ends",
)
"""The convention of a scope without a row."""

_OPENINFERENCE: Final = Convention(
    name="OpenInference",
    scopes=("openinference.",),
    kind="openinference.span.kind",
    kinds={"TOOL": semconv.SPAN_TOOL, "LLM": semconv.CHAT, "EMBEDDING": "embeddings", "AGENT": semconv.SPAN_RUN},
    decides_late=True,
    tool=("tool.name",),
    call_id=("tool_call.id", "tool.id"),
    arguments=(_read_member("input.value", "kwargs"),),
    conversation=(semconv.SESSION_ID,),
    agent=("agent.name",),
)
_OPENLLMETRY: Final = Convention(
    name="OpenLLMetry",
    scopes=(
        "traceloop.",
        *(
            f"opentelemetry.instrumentation.{library}"
            for library in ("anthropic", "bedrock", "cohere", "groq", "llamaindex", "mistralai", "ollama", "openai.v0")
        ),
        "opentelemetry.instrumentation.openai.v1",
        "opentelemetry.instrumentation.crewai.",
        "opentelemetry.instrumentation.mcp.",
    ),
    kind="traceloop.span.kind",
    kinds={"tool": semconv.SPAN_TOOL, "agent": semconv.SPAN_RUN, "workflow": semconv.SPAN_WORKFLOW},
    words=_WORDS,
    endings={
        ".tool": semconv.SPAN_TOOL,
        ".chat": semconv.CHAT,
        ".completion": "text_completion",
        ".agent": semconv.SPAN_RUN,
        ".workflow": semconv.SPAN_WORKFLOW,
    },
    tool=(semconv.GEN_AI_TOOL_NAME, "traceloop.entity.name"),
    arguments=(semconv.GEN_AI_TOOL_CALL_ARGUMENTS, "traceloop.entity.input"),
    conversation=(
        semconv.GEN_AI_CONVERSATION_ID,
        *(f"traceloop.association.properties.{name}" for name in ("session_id", "conversation_id", "thread_id")),
    ),
)
_LOGFIRE: Final = Convention(
    name="Logfire",
    scopes=("logfire.openai", "logfire.anthropic"),
    beginnings={
        "Chat Completion with ": semconv.CHAT,
        "Chat completion with ": semconv.CHAT,
        "Responses API": semconv.CHAT,
        "Message with ": semconv.CHAT,
        "Completion with ": "text_completion",
        "Embedding Creation with ": "embeddings",
    },
)

CONVENTIONS: Final = (
    OFFICIAL,
    replace(
        OFFICIAL,
        name="OpenTelemetry GenAI for the OpenAI Agents SDK",
        scopes=("opentelemetry.instrumentation.genai.openai_agents",),
        error=(_read_quoted(_AGENTS_ERROR, _read_description),),
        note=_REDACTED,
    ),
    replace(
        OFFICIAL,
        name="Google ADK",
        scopes=("gcp.vertex.agent",),
        arguments=(semconv.GEN_AI_TOOL_CALL_ARGUMENTS, "gcp.vertex.agent.tool_call_args"),
        note="Arguments are there if content is captured; of a failure that a callback answered only `TOOL_ERROR`",
    ),
    replace(
        OFFICIAL,
        name="Strands Agents",
        scopes=("strands.telemetry.tracer",),
        arguments=(semconv.GEN_AI_TOOL_CALL_ARGUMENTS, _read_event(semconv.GEN_AI_TOOL_MESSAGE, "content")),
        note="The conversation is what the agent's `trace_attributes` name as `session.id`",
    ),
    replace(
        OFFICIAL,
        name="MCP's Python SDK",
        scopes=("mcp-python-sdk",),
        note="A server's span of a call is in a trace of its own: in the agent's process the failure counts there too",
    ),
    replace(
        OFFICIAL,
        name="Anthropic's client",
        scopes=("com.anthropic.sdk.python",),
        note="Beside OpenLLMetry, whose span is not around it, a failed model call counts twice",
    ),
    _OPENINFERENCE,
    replace(
        _OPENINFERENCE,
        name="OpenInference for the OpenAI Agents SDK",
        scopes=("openinference.instrumentation.openai_agents",),
        error=(_read_quoted(_AGENTS_ERROR, _read_description),),
        note=_REDACTED,
    ),
    replace(
        _OPENINFERENCE,
        name="OpenInference for Agno",
        scopes=("openinference.instrumentation.agno",),
        error=("output.value",),
    ),
    replace(
        _OPENINFERENCE,
        name="OpenInference for LlamaIndex",
        scopes=("openinference.instrumentation.llama_index",),
        no_calls=("._prepare_chat_with_tools",),
    ),
    replace(
        _OPENINFERENCE,
        name="OpenInference for the Claude Agent SDK",
        scopes=("openinference.instrumentation.claude_agent_sdk",),
        note="The type is always `Exception`; the agent names its conversation only when it ends",
    ),
    _OPENLLMETRY,
    replace(
        _OPENLLMETRY,
        name="OpenLLMetry for LangChain",
        scopes=("opentelemetry.instrumentation.langchain",),
        # Of a graph inside a tool the nodes are the agent: its own span is not around them.
        words={**_WORDS, "execute_task": semconv.SPAN_WORKFLOW},
        arguments=(
            _read_member(semconv.GEN_AI_TOOL_CALL_ARGUMENTS, "inputs", "input_str"),
            _read_member("traceloop.entity.input", "inputs", "input_str"),
        ),
    ),
    replace(
        _OPENLLMETRY,
        name="OpenLLMetry for the OpenAI Agents SDK",
        scopes=("opentelemetry.instrumentation.openai_agents",),
        error=(_read_quoted(_AGENTS_ERROR, _read_description),),
        note=_REDACTED,
    ),
    replace(
        _OPENLLMETRY,
        name="OpenLLMetry for Agno",
        scopes=("opentelemetry.instrumentation.agno",),
        hidden_error=(_read_quoted(_AGNO_FAILED, "traceloop.entity.output"),),
        note="No span has the status ERROR: a failure is recognised by the tool's output",
    ),
    _LOGFIRE,
    replace(
        _LOGFIRE,
        name="Logfire for the OpenAI Agents SDK",
        scopes=("logfire.openai_agents",),
        beginnings={
            "Function: ": semconv.SPAN_TOOL,
            "Agent run: ": semconv.SPAN_RUN,
            "OpenAI Agents trace: ": semconv.SPAN_WORKFLOW,
            **_LOGFIRE.beginnings,
        },
        tool=("name",),
        arguments=("input",),
        conversation=("group_id",),
        error=(_read_quoted(_AGENTS_ERROR, "error"), _read_member("error", "message")),
        note=_REDACTED,
    ),
    replace(
        OFFICIAL,
        name="Logfire for the Claude Agent SDK",
        scopes=("logfire.claude_agent_sdk",),
        error=(semconv.ERROR_TYPE,),
        hidden_error=(semconv.ERROR_TYPE,),
        typed=False,
        note="`error.type` holds the message; the agent names its conversation only when it ends",
    ),
)
"""All rows. The longest scope that matches decides."""

_EXACT: Final = {scope: row for row in CONVENTIONS for scope in row.scopes if not scope.endswith(".")}
_BEGINNINGS: Final = {scope: row for row in CONVENTIONS for scope in row.scopes if scope.endswith(".")}


@lru_cache(maxsize=1_024)
def find_convention(scope: str) -> Convention:
    """Return the convention of an instrumentation scope, or the official one."""
    beginnings = (row for beginning, row in _BEGINNINGS.items() if scope.startswith(beginning))
    return _EXACT.get(scope) or next(beginnings, OFFICIAL)


def read_span(span: ReadableSpan) -> EndedSpan:
    """Return an ended span in the words of the official convention."""
    return translate(sdk.read_span(span))


def translate(span: EndedSpan) -> EndedSpan:
    """Return an ended span in the words of the official convention."""
    row = find_convention(span.scope)
    return span if row is OFFICIAL else row.translate(span)
