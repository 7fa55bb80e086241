"""
Every telemetry name of this library; nothing else spells them.

Standard names are written out instead of imported: the GenAI ones have moved between packages more than once.
"""

from __future__ import annotations

from typing import Final

# Standard attributes.
ERROR_TYPE: Final = "error.type"
EXCEPTION_TYPE: Final = "exception.type"
EXCEPTION_MESSAGE: Final = "exception.message"
EXCEPTION_STACKTRACE: Final = "exception.stacktrace"
EXCEPTION_EVENT: Final = "exception"
EXCEPTION_SUFFIX: Final = ".exception"
"""How the names of log records end that are the exception of an operation: `gen_ai.execute_tool.exception`."""
EVENT_NAME: Final = "event.name"
"""An event's name as an attribute, where log records have no field for it."""
GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
GEN_AI_PROVIDER_NAME: Final = "gen_ai.provider.name"
GEN_AI_REQUEST_MODEL: Final = "gen_ai.request.model"
GEN_AI_TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - a name
GEN_AI_TOOL_NAME: Final = "gen_ai.tool.name"
GEN_AI_TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
GEN_AI_TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
GEN_AI_TOOL_MESSAGE: Final = "gen_ai.tool.message"
"""An event with the arguments of a call, as they were told before there was an attribute for them."""
GEN_AI_AGENT_NAME: Final = "gen_ai.agent.name"
GEN_AI_CONVERSATION_ID: Final = "gen_ai.conversation.id"
SESSION_ID: Final = "session.id"
SERVICE_INSTANCE_ID: Final = "service.instance.id"
MCP_METHOD_NAME: Final = "mcp.method.name"
HTTP_RESPONSE_STATUS_CODE: Final = "http.response.status_code"
HTTP_STATUS_CODE: Final = "http.status_code"
"""The name before the HTTP conventions were stable; many instrumentations still write it."""
URL_FULL: Final = "url.full"
HTTP_URL: Final = "http.url"
"""The same before the HTTP conventions were stable."""
PROCESS_EXIT_CODE: Final = "process.exit.code"

# Our attributes.
CLASS: Final = "errcompact.class"
DETECTED: Final = "errcompact.detected"
"""What gave a failure away that its tool had not reported."""
OUTCOME: Final = "errcompact.outcome"
LOCATION: Final = "errcompact.location"
TEMPLATE: Final = "errcompact.template"
RESOLUTION: Final = "errcompact.resolution"
"""Whether a class was resolved, or its resolution was taken back."""
THRESHOLD: Final = "errcompact.threshold"
ACTION: Final = "errcompact.action"
RESULT: Final = "errcompact.result"
FORM: Final = "errcompact.form"
STAGE: Final = "errcompact.stage"
RUN_ID: Final = "errcompact.run.id"
LAYER: Final = "errcompact.layer"
"""The layer of compaction: results, snip, errors, micro, summary, reactive."""
REASON: Final = "errcompact.reason"
"""Why a layer ran."""
PROBLEM: Final = "errcompact.problem"
"""Why a layer could not do its work, in words."""
CUTS: Final = "errcompact.cuts"
"""How many things a layer has cut."""
TOKENS_BEFORE: Final = "errcompact.tokens.before"
TOKENS_AFTER: Final = "errcompact.tokens.after"
TOKENS_INVALIDATED: Final = "errcompact.tokens.invalidated"
TOKENS_ROOM: Final = "errcompact.tokens.room"
COUNTED: Final = "errcompact.counted"
"""On a resource: this process counts its failures, so that a collector must not."""
RAW: Final = "errcompact.raw"
"""The raw error as bytes (UTF-8, lone surrogates passed through), where a string attribute cannot hold it exactly."""

# Standard instruments.
TOKEN_USAGE: Final = "gen_ai.client.token.usage"  # noqa: S105 - a name

# Our instruments.
ERRORS: Final = "errcompact.errors"
CLASS_INFO: Final = "errcompact.class.info"
STREAK: Final = "errcompact.streak"
ESCALATIONS: Final = "errcompact.escalations"
RESOLUTIONS: Final = "errcompact.resolutions"
REFUSALS: Final = "errcompact.refusals"
RUNS: Final = "errcompact.runs"
CONTEXT_TOKENS: Final = "errcompact.context.tokens"
COMPACTION_DURATION: Final = "errcompact.compaction.duration"
INTERNAL_FAILURES: Final = "errcompact.internal.failures"
COMPACTIONS: Final = "errcompact.context.compactions"
LAYER_TOKENS: Final = "errcompact.context.layer.tokens"
LAYER_DURATION: Final = "errcompact.context.layer.duration"
OVERFLOWS: Final = "errcompact.context.overflows"

# Our events.
ESCALATION_EVENT: Final = "errcompact.escalation"

TOOL_EXCEPTION: Final = "gen_ai.execute_tool.exception"
RUN_EXCEPTION: Final = "gen_ai.invoke_agent.exception"

# Span names, or their first word.
SPAN_RUN: Final = "invoke_agent"
SPAN_TOOL: Final = "execute_tool"
SPAN_WORKFLOW: Final = "invoke_workflow"
SPAN_COMPACT: Final = "compact_context"
MCP_TOOL_CALL: Final = "tools/call"
CHAT: Final = "chat"
MODEL_OPERATIONS: Final = frozenset({CHAT, "generate_content", "text_completion", "embeddings"})

SCOPE: Final = "otel_errcompact"
"""The instrumentation scope of our own boundaries: their spans are settled by their maker, not by the processor."""

CONTEXT_SCOPE: Final = "otel_errcompact.context"
"""The instrumentation scope of what is done to whole contexts."""

OTHER: Final = "other"
"""The label of everything beyond a bound on label values."""

OTHER_TYPE: Final = "_OTHER"
"""The standard's own label for error types beyond what is told apart."""

TOKENS_IN: Final = "input"
TOKENS_OUT: Final = "output"

FORM_BEFORE: Final = "before"
FORM_AFTER: Final = "after"
FORM_INVALIDATED: Final = "invalidated"
FORM_RAW: Final = "raw"
FORM_DIGEST: Final = "digest"
HANDLED: Final = "handled"
RESOLVED: Final = "resolved"
TAKEN_BACK: Final = "taken_back"
