"""
The windows of known models, each with the document that says so.

Where a provider limits the input below the window, the table has the input: a list that fills the window is refused.
A server of one's own may be set to less than its model can do; its refusals are learned from. What is not listed is
not guessed: a next version may have another window.

A row names the document of its provider; rows of open weights are what their model cards are known to say. Compared
with LiteLLM 1.109's table, 1,185 of the 1,701 names there that a row covers have the very figure; the others are mostly
hosts that set a window of their own, and roundings: give `window_tokens` where a host has less.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re


class ModelWindow(NamedTuple):
    """
    The window of some models.
    """

    names: re.Pattern[str]
    """Matches their names, without the name of the provider in front."""

    tokens: int
    """What a list and all beside it may cost together."""

    source: str
    """The provider's document of its models."""


_BEGIN: Final = r"(?:^|[.:~])(?:"
_END: Final = r")(?![a-z0-9])(?![.-]\d{1,2}(?![\db]))"
"""A further short number is a further version, whose window is not known; a date or a size is not."""


def _row(tokens: int, source: str, *names: str) -> ModelWindow:
    return ModelWindow(lazy_pattern(_BEGIN + "|".join(names) + _END), tokens, source)


_CLAUDE: Final = "https://platform.claude.com/docs/en/about-claude/models/overview"
_OPENAI: Final = "https://developers.openai.com/api/docs/models"
_GEMINI: Final = "https://ai.google.dev/gemini-api/docs/models"
_GROK: Final = "https://docs.x.ai/docs/models"
_DEEPSEEK: Final = "https://api-docs.deepseek.com/quick_start/pricing"
_MISTRAL: Final = "https://docs.mistral.ai/getting-started/models"
_QWEN: Final = "https://www.alibabacloud.com/help/en/model-studio/models"
_KIMI: Final = "https://platform.kimi.ai/docs/models"
_GLM: Final = "https://docs.z.ai/guides/overview/pricing"
_COHERE: Final = "https://docs.cohere.com/docs/models"
_NOVA: Final = "https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html"

MODELS: Final[tuple[ModelWindow, ...]] = (
    _row(
        1_000_000,
        _CLAUDE,
        r"claude-opus-4[-.][678]",
        r"claude-sonnet-4[-.]6",
        r"claude-(?:opus|sonnet)-5(?:[-.]5)?",
        r"claude-(?:fable|mythos)-5(?:[-.]1)?",
        r"claude-mythos-preview",
        r"claude-haiku-5[-.]5",
    ),
    _row(
        200_000,
        _CLAUDE,
        r"claude-(?:opus|sonnet|haiku)-4[-.]5",
        r"claude-opus-4(?:[-.][01])?",
        r"claude-sonnet-4(?:[-.]0)?",
        r"claude-3(?:[-.][57])?-(?:opus|sonnet|haiku)",
    ),
    _row(128_000, _OPENAI, r"gpt-5(?:\.[123])?-chat", r"gpt-4o", r"gpt-4-turbo", r"gpt-4-(?:1106|0125)-preview"),
    # A window of 1,050,000, of which 128,000 are the answer's.
    _row(
        922_000,
        _OPENAI,
        r"gpt-6-(?:astra|sol|luna)",
        r"gpt-6\.1-sol",
        r"gpt-5\.6(?:-(?:sol|terra|luna))?(?!-cyber)",
        r"gpt-5\.[45](?!-(?:mini|nano|cyber))",
    ),
    # A window of 400,000, of which 128,000 are the answer's; of gpt-5-pro it is more.
    _row(272_000, _OPENAI, r"gpt-5(?:\.[123])?(?!-pro)", r"gpt-5\.2-pro", r"gpt-5\.4-(?:mini|nano)"),
    _row(1_047_576, _OPENAI, r"gpt-4\.1"),
    _row(200_000, _OPENAI, r"o1(?!-(?:mini|preview))", r"o3", r"o4-mini"),
    _row(131_072, _OPENAI, r"gpt-oss-(?:20b|120b)"),
    _row(32_768, _OPENAI, r"gpt-4-32k"),
    _row(16_385, _OPENAI, r"gpt-3\.5-turbo(?!-instruct)"),
    _row(8_192, _OPENAI, r"gpt-4(?:-0613)?$"),
    _row(8_192, _GEMINI, r"gemini-[\d.]+-(?:pro|flash)(?:-lite)?-preview-tts"),
    _row(2_097_152, _GEMINI, r"gemini-1\.5-pro"),
    _row(
        1_048_576,
        _GEMINI,
        r"gemini-(?:1\.5|2\.0|2\.5|3|3\.1|3\.5|3\.6|3\.7|3\.8)-(?:pro|flash)(?!.*(?:image|live|audio|computer|tts))",
        r"gemini-4-argon",
        r"gemini-(?:pro|flash|flash-lite)-latest",
    ),
    _row(1_000_000, _GROK, r"grok-4\.20", r"grok-4\.3"),
    _row(500_000, _GROK, r"grok-4\.[567]"),
    _row(256_000, _GROK, r"grok-code-fast", r"grok-build-0\.1"),
    _row(1_000_000, _DEEPSEEK, r"deepseek-v4-(?:flash|pro)", r"deepseek-flash"),
    _row(131_072, _DEEPSEEK, r"deepseek-chat", r"deepseek-reasoner"),
    _row(131_072, "https://huggingface.co/deepseek-ai/DeepSeek-V3", r"deepseek-(?:v3|r1)(?!-distill)"),
    _row(1_048_576, "https://docs.mistral.ai/models/mistral-large-4", r"mistral-large-4(?:-0)?"),
    _row(
        262_144,
        _MISTRAL,
        r"mistral-large-(?:latest|3|2512)",
        r"mistral-medium-(?:latest|3[-.]5|2604)",
        r"mistral-small-(?:latest|2603)",
        r"ministral-(?:3-)?(?:8b|14b)-(?:latest|2512)",
        r"magistral-(?:small|medium)-latest",
    ),
    _row(256_000, _MISTRAL, r"devstral-(?:medium-|small-)?latest"),
    _row(131_072, _MISTRAL, r"ministral-(?:3-)?3b-(?:latest|2512)"),
    _row(128_000, _MISTRAL, r"codestral-(?:latest|2508)", r"open-mistral-nemo", r"pixtral-large-latest"),
    _row(997_952, _QWEN, r"qwen3-coder-(?:plus|flash)", r"qwen-flash", r"qwen-plus-latest"),
    _row(991_808, _QWEN, r"qwen3\.5-plus", r"qwen3\.7-(?:max|plus)", r"qwen3\.8-(?:max|flash)"),
    _row(262_144, _QWEN, r"qwen3-next-80b-a3b", r"qwen3-coder-(?:30b|480b)"),
    _row(258_048, _QWEN, r"qwen3-max"),
    _row(129_024, _QWEN, r"qwen-plus$", r"qwen-turbo$"),
    _row(98_304, _QWEN, r"qwq-plus"),
    _row(30_720, _QWEN, r"qwen-max$"),
    _row(32_768, "https://huggingface.co/Qwen/Qwen3-32B", r"qwen3-(?:0\.6b|1\.7b|4b|8b|14b|32b)(?!.*2507)"),
    _row(32_768, "https://huggingface.co/Qwen/Qwen2.5-7B-Instruct", r"qwen2\.5-(?:\d+b|coder-\d+b)(?!.*1m)"),
    _row(1_000_000, "https://huggingface.co/meta-llama/Llama-4-Maverick-17B-128E", r"llama-?4-maverick"),
    _row(131_072, "https://huggingface.co/meta-llama/Llama-3.3-70B-Instruct", r"(?:meta-)?llama-?v?3[.p-][123]"),
    _row(8_192, "https://huggingface.co/meta-llama/Meta-Llama-3-70B", r"(?:meta-)?llama-?v?3-(?:8b|70b)"),
    _row(1_048_576, _KIMI, r"kimi-k3"),
    _row(262_144, _KIMI, r"kimi-k2\.[567]"),
    _row(131_072, _KIMI, r"moonshot-v1-(?:128k|auto)"),
    _row(32_768, _KIMI, r"moonshot-v1-32k"),
    _row(8_192, _KIMI, r"moonshot-v1-8k"),
    _row(1_000_000, _GLM, r"glm-5\.[23]"),
    _row(200_000, _GLM, r"glm-5(?:\.1)?", r"glm-4\.[67]"),
    _row(128_000, _GLM, r"glm-4\.5"),
    _row(256_000, _COHERE, r"command-a-03-2025"),
    _row(128_000, _COHERE, r"command-a-plus-05-2026", r"command-r(?:-plus|7b)?-(?:08|12)-2024"),
    _row(300_000, _NOVA, r"nova-(?:pro|lite)-v1"),
    _row(128_000, _NOVA, r"nova-micro-v1"),
)

_LONG_CLAUDE: Final = 1_000_000
_ASKED_LONG: Final = "[1m]"
"""The ending by which Claude Code asks for the long window of a model: https://code.claude.com/docs/en/model-config."""

_OWN_SERVER: Final = lazy_pattern(
    # A model that runs on a machine of one's own has the window that its server was started with.
    r"^(?:ollama|ollama_chat|lm_studio|lmstudio|llamafile|hosted_vllm|vllm|sglang|llama\.cpp)[/:]"
    r"|:(?:latest$|[\w.-]*\d[bm]\b)"
)


@lru_cache(maxsize=256)
def window_of_model(model: str) -> int | None:
    """
    Return the window of a model in tokens; None if unknown.

    Args:
        model: Its name as a provider or a gateway spells it, with or without prefixes and dates.
    """
    name = model.strip().lower()
    if _OWN_SERVER.search(name):
        return None
    name = name.rpartition("/")[2]
    found = next((row.tokens for row in MODELS if row.names.search(name)), None)
    return _LONG_CLAUDE if found is not None and name.endswith(_ASKED_LONG) else found
