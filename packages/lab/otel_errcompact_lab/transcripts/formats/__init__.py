"""
Formats of transcripts: one module and one row in `FORMATS` each.

The content of a value shows its format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from otel_errcompact_lab.transcripts.formats import (
    aider,
    autogen,
    chat,
    claude_code,
    cline,
    codex,
    copilot_cli,
    gemini_cli,
    inspect_ai,
    jaeger,
    kimi_cli,
    langchain,
    mini_swe_agent,
    opencode,
    openhands,
    otlp_json,
    specstory,
    swe_agent,
    tau2,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from otel_errcompact_lab.transcripts.model import RecordedLife, RecordedRun, RecordedTrace
    from otel_errcompact_lab.transcripts.records import Value


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of transcript."""

    name: str
    description: str
    detect: Callable[[object], bool]
    """Tells whether a value (of a line, or the file) belongs to this format."""

    read: Callable[[Iterable[Value]], Iterator[RecordedRun | RecordedTrace | RecordedLife]]
    """Reads the values of one file."""


FORMATS: Final = (
    Format("claude-code", "Claude Code sessions (.jsonl)", claude_code.detect, claude_code.read),
    Format("codex", "Codex rollouts (.jsonl)", codex.detect, codex.read),
    Format("copilot-cli", "Copilot CLI events (.jsonl)", copilot_cli.detect, copilot_cli.read),
    Format(
        "chat", "chat messages of OpenAI and Anthropic, and tau-bench results (.json, .jsonl)", chat.detect, chat.read
    ),
    Format("chat-messages", "chat messages of one line each (.jsonl)", chat.detect_message, chat.read_messages),
    Format("gemini-cli", "Gemini CLI sessions (.json, .jsonl)", gemini_cli.detect, gemini_cli.read),
    Format("opencode", "OpenCode exports (.json)", opencode.detect, opencode.read),
    Format("kimi-cli", "Kimi CLI events (wire.jsonl)", kimi_cli.detect, kimi_cli.read),
    Format("cline", "Cline tasks (ui_messages.json, api_conversation_history.json)", cline.detect, cline.read),
    Format("langchain", "LangChain messages and LangSmith runs (.json, .jsonl)", langchain.detect, langchain.read),
    Format("autogen", "AutoGen and Magentic-One histories (.json, .jsonl)", autogen.detect, autogen.read),
    Format("swe-agent", "SWE-agent and SWE-smith trajectories (.traj)", swe_agent.detect, swe_agent.read),
    Format("mini-swe-agent", "mini-swe-agent trajectories (.traj.json)", mini_swe_agent.detect, mini_swe_agent.read),
    Format("tau2-bench", "tau2-bench results (.json)", tau2.detect, tau2.read),
    Format("inspect-ai", "Inspect AI logs (.eval, .json)", inspect_ai.detect, inspect_ai.read),
    Format("openhands", "OpenHands evaluation output (output.jsonl)", openhands.detect, openhands.read),
    Format("aider", "aider histories (.aider.chat.history.md)", aider.detect, aider.read),
    Format("specstory", "SpecStory histories (.specstory/history/*.md)", specstory.detect, specstory.read),
    Format("otlp-json", "OTLP/JSON traces, as the trajectory file (.jsonl)", otlp_json.detect, otlp_json.read),
    Format("jaeger", "Jaeger JSON traces (.json)", jaeger.detect, jaeger.read),
)
"""All formats; no two recognise the same value."""
