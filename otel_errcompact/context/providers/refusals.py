"""What providers, gateways and servers say when a request is too long for the window, and where each is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NUMBER: Final = "[0-9](?:[0-9,_]{0,14}[0-9])?"
_GROUP: Final = lazy_pattern("<([a-z]+)>")
_GROUPS: Final = frozenset({"limit", "sent", "input", "answer", "over"})


class Refusal(NamedTuple):
    """
    One form in which a request is refused for its length.
    """

    provider: str
    """Whose words they are; others speak like it, DeepSeek and Azure like OpenAI."""

    pattern: re.Pattern[str]
    """With groups for what is told: `limit`; `sent`, or its parts `input` and `answer`, or `over`, beyond the limit."""

    source: str


def _refusal(provider: str, words: str, source: str) -> Refusal:
    pattern = _GROUP.sub(lambda group: f"(?P<{group[1]}>{_NUMBER})", words)
    return Refusal(provider, lazy_pattern(pattern, re.IGNORECASE | re.ASCII), source)


_ISSUES: Final = "https://github.com/"

# In order: the first that matches names the provider, so that what others repeat stands last.
REFUSALS: Final = (
    _refusal(
        "fireworks",
        "the prompt is too long: <sent>, model maximum context length: <limit>",
        "https://docs.fireworks.ai/guides/inference-error-codes",
    ),
    _refusal(
        "anthropic",
        "prompt is too long(?:: <sent> tokens > <limit> maximum)?",
        f"{_ISSUES}earendil-works/pi/issues/102",
    ),
    _refusal(
        "anthropic",
        # Some log files lose the plus sign.
        "input length and `?max_tokens`? exceed context limit: <input> \\+? ?<answer> > <limit>",
        f"{_ISSUES}anthropics/claude-code/issues/408",
    ),
    _refusal(
        "anthropic",
        r"\brequest_too_large\b|request exceeds the maximum size",
        "https://docs.anthropic.com/en/api/errors",
    ),
    _refusal(
        "anthropic",
        r"\bmodel_context_window_exceeded\b",
        "https://docs.anthropic.com/en/build-with-claude/handling-stop-reasons",
    ),
    _refusal(
        "openrouter",
        r"this endpoint.s maximum context length is <limit> tokens"
        r"(?:\. however, you requested (?:about )?<sent> tokens(?: \((?:[^()]{0,120}?<answer> in the output)?)?)?",
        f"{_ISSUES}OpenHands/OpenHands/issues/9937",
    ),
    _refusal(
        "vllm",
        r"maximum context length is <limit> tokens\. however, your request has <sent> input tokens",
        f"{_ISSUES}UKGovernmentBEIS/inspect_ai/issues/2634",
    ),
    _refusal(
        "vllm",
        r"maximum context length is <limit> tokens\. however, you requested <answer> output tokens "
        r"and your prompt contains at least <input> input tokens",
        f"{_ISSUES}AIDotNet/OpenCowork/issues/82",
    ),
    _refusal(
        "vllm",
        r"max_(?:completion_)?tokens'? is too large: <answer>\. this model.s maximum context length is <limit> tokens "
        r"and your request has <input> input tokens",
        f"{_ISSUES}vllm-project/vllm/issues/33418",
    ),
    _refusal(
        "vllm",
        r"prompt \((?:total )?length <sent>\) is "
        r"(?:longer than the maximum model length of|too long to fit into the model \(context length) <limit>",
        f"{_ISSUES}vllm-project/vllm/issues/12165",
    ),
    _refusal(
        "openai",
        r"maximum context length is <limit> tokens"
        r"(?:[.,] however,? (?:your messages resulted in|you requested)(?: about)? <sent> tokens"
        r"(?: \((?:[^()]{0,120}?<answer> (?:in|for) the completion)?)?)?",
        f"{_ISSUES}chathub-dev/chathub/issues/126",
    ),
    _refusal(
        "openai",
        r"input tokens exceed the configured limit of <limit> tokens(?:\. your messages resulted in <sent> tokens)?",
        f"{_ISSUES}cline/cline/issues/5474",
    ),
    _refusal(
        "openai",
        "exceeds the context window of this model",
        f"{_ISSUES}dyad-sh/dyad/issues/1672",
    ),
    _refusal(
        "gemini",
        r"input token count(?: \(<sent>\))? exceeds the maximum number of tokens allowed(?: \(<limit>\))?",
        f"{_ISSUES}google-gemini/gemini-cli/issues/6678",
    ),
    _refusal(
        "gemini",
        "input token count is <sent> but (?:the )?model (?:only )?supports up to <limit>",
        "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/api-errors",
    ),
    _refusal(
        "bedrock",
        "input is too long for requested model",
        f"{_ISSUES}aws-samples/bedrock-chat/issues/95",
    ),
    _refusal(
        "bedrock",
        r"too many input tokens\. max input tokens: <limit>(?:, request input token count: <sent>)?",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html",
    ),
    _refusal(
        "bedrock",
        # Its schema of the request, where no field is named: the prompt of a model that takes a text.
        r"malformed input request: expected maxlength: [0-9]{1,12}, actual: [0-9]{1,12}",
        f"{_ISSUES}ryanadoty/Amazon-Bedrock-Amazon-RDS-POC/issues/9",
    ),
    _refusal(
        "snowflake",
        "max tokens of <limit> exceeded",
        f"{_ISSUES}posit-dev/positron/issues/11737",
    ),
    _refusal(
        "mistral",
        r"prompt contains <sent> tokens[^\n]{0,80}?too large for model with <limit> maximum context length",
        f"{_ISSUES}pydantic/pydantic-ai",
    ),
    _refusal(
        "cohere",
        r"size limit exceeded by <over> tokens(?:[^\n]{0,120}?the limit for this model is <limit> tokens)?",
        "https://docs.cohere.com/reference/errors",
    ),
    _refusal(
        "cohere",
        r"total number of tokens \(prompt and prediction\) cannot exceed <limit> - received <sent>",
        f"{_ISSUES}cohere-ai/sandbox-topically/issues/4",
    ),
    _refusal(
        "xai",
        "maximum prompt length is <limit> but the request contains <sent> tokens",
        f"{_ISSUES}cline/cline/issues/3120",
    ),
    _refusal(
        "together",
        "tokens \\+ `?max_new_tokens`? must be <= <limit>\\. given: <input> `?inputs`? tokens and <answer>",
        f"{_ISSUES}BerriAI/litellm/issues/4934",
    ),
    _refusal(
        "together",
        r"input \(<sent> tokens\) is longer than the model.s context length \(<limit> tokens\)",
        "https://docs.together.ai/docs/error-codes",
    ),
    _refusal(
        "sglang",
        r"requested token count exceeds the model.s maximum context length of <limit> tokens"
        r"(?:\. you requested a total of <sent> tokens: [^\n]{0,60}?and <answer> tokens for the completion)?",
        f"{_ISSUES}sgl-project/sglang",
    ),
    _refusal(
        "llama.cpp",
        r"request \(<sent> tokens\) exceeds the available context size \(<limit> tokens\)",
        f"{_ISSUES}ggml-org/llama.cpp/pull/16486",
    ),
    _refusal(
        "llama.cpp",
        r"\bexceed_context_size_error\b(?:\W{1,4}n_prompt_tokens\W{1,4}<sent>\W{1,4}n_ctx\W{1,4}<limit>)?",
        f"{_ISSUES}ggml-org/llama.cpp/pull/15780",
    ),
    _refusal(
        "llama.cpp",
        "exceeds the available context size",
        f"{_ISSUES}oobabooga/textgen/issues/7257",
    ),
    _refusal(
        "llama-cpp-python",
        r"requested tokens(?: \(<sent>\))? exceed context window of <limit>",
        f"{_ISSUES}abetlen/llama-cpp-python/issues/462",
    ),
    _refusal(
        "lm-studio",
        r"tokens to keep from the initial prompt is greater than the context length"
        r"(?: \(n_keep: <sent> ?>= n_ctx: <limit>\))?",
        f"{_ISSUES}Gitlawb/openclaude/issues/353",
    ),
    _refusal(
        "lm-studio",
        r"cannot truncate prompt with n_keep \(<sent>\) >= n_ctx \(<limit>\)",
        f"{_ISSUES}anomalyco/opencode/issues/11141",
    ),
    _refusal(
        "ollama",
        "prompt too long; exceeded (?:max )?context length(?: by <over> tokens)?",
        f"{_ISSUES}dyad-sh/dyad/issues/3498",
    ),
    _refusal(
        "github-copilot",
        "prompt token count of <sent> exceeds the limit of <limit>",
        f"{_ISSUES}microsoft/copilot-intellij-feedback/issues/94",
    ),
    _refusal(
        "moonshot",
        r"exceeded model token limit: <limit> \(requested: <sent>\)",
        f"{_ISSUES}BigPizzaV3/CodexPlusPlus/issues/1803",
    ),
    _refusal(
        "groq",
        r"reduce the length of the messages or completion(?:\. current length is <sent> while limit is <limit>)?",
        f"{_ISSUES}thepersonalaicompany/amurex-backend/issues/51",
    ),
    _refusal(
        "qwen",
        r"range of input length should be \[ ?1, ?<limit> ?\]",
        f"{_ISSUES}QwenLM/qwen-code/issues/98",
    ),
    _refusal(
        "zhipu",
        "prompt exceeds max length",
        f"{_ISSUES}earendil-works/pi/issues/8991",
    ),
    _refusal(
        "zhipu",
        "request <input> input tokens exceeds the model.s maximum context length <limit>",
        f"{_ISSUES}foreveryh/claude-code-switch/issues/12",
    ),
    _refusal(
        "minimax",  # The number behind it, (2013), is a code and no limit.
        "context window exceeds limit",
        f"{_ISSUES}MiniMax-AI/MiniMax-M2/issues/119",
    ),
    _refusal(
        "siliconflow",
        r"number of input tokens \(<sent>\) has exceeded max_prompt_tokens \(<limit>\)",
        f"{_ISSUES}leookun/cursor-byok/issues/129",
    ),
    _refusal(
        "volcengine",
        r"total tokens of image and text exceed max message tokens",
        f"{_ISSUES}bytedance/deer-flow/issues/583",
    ),
    _refusal(
        "volcengine",
        r"input length <sent> exceeds the maximum length <limit>",
        f"{_ISSUES}langgenius/dify/issues/32221",
    ),
    _refusal(
        "nim",
        r"you passed <input> input tokens and requested <answer> output tokens\. "
        r"however, the model.s context length is only <limit> tokens",
        f"{_ISSUES}Kilo-Org/kilocode/issues/8698",
    ),
    _refusal(
        "vllm",
        r"input prompt \(<sent> tokens\) is too long and exceeds (?:the )?(?:limit|capacity) of <limit>",
        f"{_ISSUES}vllm-project/vllm/issues/10440",
    ),
    _refusal(
        # The answer is given what the prompt leaves: less than nothing.
        "vllm",
        r"max_(?:completion_)?tokens must be at least 1, got -",
        f"{_ISSUES}cuga-project/cuga-agent/issues/439",
    ),
    _refusal(
        "sglang",
        r"input length \(<sent> tokens\) exceeds the maximum allowed length \(<limit> tokens\)",
        f"{_ISSUES}sgl-project/sglang/issues/4048",
    ),
    _refusal(
        "tgi",
        r"`?inputs`? must have less than <limit> tokens\. given: <sent>",
        f"{_ISSUES}huggingface/text-generation-inference/issues/695",
    ),
    _refusal(
        "sambanova",
        r"maximum context length of [\w./:-]{1,80} is <limit>\. "
        r"however, answering your request will take <sent> tokens",
        f"{_ISSUES}OpenHands/OpenHands/issues/9252",
    ),
    _refusal(
        "lm-studio",
        r"trying to keep the first <sent> tokens when context the overflows\. "
        r"however, the model is loaded with context length of only <limit> tokens",
        f"{_ISSUES}lmstudio-ai/lmstudio-bug-tracker/issues/237",
    ),
    _refusal(
        "lm-studio",
        r"reached context length of <limit> tokens with model",
        f"{_ISSUES}lmstudio-ai/lmstudio-bug-tracker/issues/1251",
    ),
    _refusal(
        "lm-studio",
        "context size has been exceeded",
        f"{_ISSUES}lmstudio-ai/lmstudio-bug-tracker/issues/2339",
    ),
    _refusal(
        "ollama",
        "input length exceeds the context length",
        f"{_ISSUES}nano-step/nano-brain/issues/208",
    ),
    _refusal(
        "poolside",
        r"input length <sent> exceeds the maximum allowed input length of <limit> tokens",
        f"{_ISSUES}earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    ),
    _refusal(
        "cloudflare",
        r"estimated number of input and maximum output tokens \(<sent>\) exceeded this model context window limit "
        r"\(<limit>\)",
        f"{_ISSUES}sst/opencode/blob/dev/packages/ai/src/provider-error.ts",
    ),
    _refusal(
        "cerebras",  # What OpenAI's SDK says of an answer that is empty; Mistral gives the same.
        r"\b400 (?:status code )?\(no body\)",
        f"{_ISSUES}earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts",
    ),
    _refusal(
        "gemini",
        r"request payload size exceeds the limit",
        f"{_ISSUES}MaKTaiL/gemini-srt-translator/issues/63",
    ),
    _refusal(
        "openai",
        r"\bcontext_length_exceeded\b",
        "https://platform.openai.com/docs/guides/error-codes",
    ),
    _refusal(
        "litellm",
        r"\bContextWindowExceededError\b",
        "https://docs.litellm.ai/docs/exception_mapping",
    ),
)

ERROR_CLASSES: Final = frozenset(
    {
        "ContextWindowExceededError",  # LiteLLM, Agno
        "ContextOverflowError",  # LangChain
        "ContextWindowOverflowException",  # Strands
        "ModelContextWindowExceededError",  # Pydantic AI
        "LLMContextLengthExceededError",  # CrewAI
    }
)
"""Exceptions of frameworks that mean nothing else, whatever they say."""

CODES: Final = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq
        "model_context_window_exceeded",  # Anthropic, Bedrock, Z.ai
        "exceed_context_size_error",  # llama.cpp
        "model_max_prompt_tokens_exceeded",  # GitHub Copilot
        "ERROR_LIMIT",  # Cohere's first API
        "OutofContextError",  # Volcengine
    }
)
"""Codes, and reasons for stopping, that mean nothing else."""

OTHER_LIMITS: Final = lazy_pattern(
    r"tokens?[ _]per[ _](?:min|hour|day)|\bTP[MD]\b|rate[ _-]?limit|too many requests|quota|throttl|resource_exhausted"
    r"|credit|billing|please wait before|higher (?:\w+ )?limit|insufficient[ _](?:quota|balance|funds)",
    re.IGNORECASE | re.ASCII,
)
"""Words of a limit over time or of money; a shorter context would not help for long."""

OTHER_STATUS: Final = frozenset({402, 404, 408, 409, 429, 529})
"""
Status codes that never mean the length of the context; limits per minute name counts of tokens too.

401 and 403 are not among them: https://github.com/MoonshotAI/kimi-code/pull/2655 and
https://github.com/zed-industries/zed/issues/62362.
"""

MAX_REGISTERED: Final = 1_000
"""How many forms an application may add; beyond, the oldest is forgotten."""

_registered: Final = BoundedTable[str, Refusal](MAX_REGISTERED)


def register(words: str, *, provider: str = "registered", source: str = "") -> Callable[[], None]:
    """
    Add a form of refusal, for every guard of this process.

    It is tried before all others, and counts whatever the status of the answer is.

    Args:
        words: A regular expression, case ignored, for a text whose white space is single spaces. `<limit>` and `<sent>`
            stand for the numbers of tokens that are told; the parts of what was sent are `<input>` and `<answer>`, and
            `<over>` is how much it was beyond the limit.
        provider: Whose words they are.
        source: Where they are told, for whoever reads the form.

    Returns:
        What takes the form out again.

    Raises:
        ConfigurationError: It is no regular expression, matches anything, or names another number.
    """
    form = make_form(words, provider, source)
    _registered.put(words, form)

    def take_out() -> None:
        if _registered.get(words) is form:
            _registered.pop(words)

    return take_out


def registered_forms() -> tuple[Refusal, ...]:
    """Return the forms that the application has added."""
    return tuple(_registered.entries.copy().values())


def make_forms(texts: Iterable[str]) -> tuple[Refusal, ...]:
    """
    Return the forms that an option adds.

    Raises:
        ConfigurationError: One is no regular expression, matches anything, or names another number.
    """
    return tuple(make_form(words, "registered", "ContextOptions.refusals") for words in texts)


def make_form(words: str, provider: str, source: str) -> Refusal:
    """
    Return one form of refusal.

    Raises:
        ConfigurationError: It is no regular expression, matches anything, or names another number.
    """
    others = sorted(set(_GROUP.findall(words)) - _GROUPS)
    if "(?P<" in words or others:
        raise ConfigurationError(
            f"the refusal {words!r} names {', '.join(others) or 'a group of its own'}: "
            f"write <limit> or <sent> where a number of tokens stands (also {', '.join(sorted(_GROUPS))})"
        )
    form = _refusal(provider, words, source)
    try:
        matches_anything = form.pattern.search("") is not None
    except re.error as error:
        raise ConfigurationError(f"the refusal {words!r} is no regular expression: {error}") from error
    if matches_anything:
        raise ConfigurationError(f"the refusal {words!r} matches any text: write words that only this refusal has")
    return form
