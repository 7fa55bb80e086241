"""What providers, gateways and servers say when a request is too long for the window, and where each is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.runtime.bounded import BoundedTable
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_NUMBER: Final = "[0-9](?:[0-9,_]{0,14}[0-9])?"
_GROUP: Final = lazy_pattern("<([a-z]+)>")
_GROUPS: Final = frozenset({"limit", "sent", "input", "answer", "over"})


class Refusal(NamedTuple):
    """One form in which a request is refused for its length."""

    provider: str
    """Whose words they are; others speak like it, DeepSeek and Azure like OpenAI."""

    pattern: re.Pattern[str]
    """With groups for what is told: `limit`; `sent`, or its parts `input` and `answer`, or `over`, beyond the limit."""

    source: str


def _make_refusal(provider: str, words: str, source: str) -> Refusal:
    pattern = _GROUP.sub(lambda group: f"(?P<{group[1]}>{_NUMBER})", words)
    return Refusal(provider, lazy_pattern(pattern, re.IGNORECASE | re.ASCII), source)


_GITHUB: Final = "https://github.com/"

_TABLE: Final = r"""
fireworks https://docs.fireworks.ai/guides/inference-error-codes
    the prompt is too long: [0-9]+, model maximum context length
anthropic earendil-works/pi/issues/102
    prompt is too long(?:: <sent> tokens > <limit> maximum)?
# Some log files lose the plus sign.
anthropic anthropics/claude-code/issues/408
    input length and `?max_tokens`? exceed context limit: <input> \+? ?<answer> > <limit>
anthropic https://docs.anthropic.com/en/api/errors
    \brequest_too_large\b|request exceeds the maximum size
anthropic https://docs.anthropic.com/en/build-with-claude/handling-stop-reasons
    \bmodel_context_window_exceeded\b
openrouter OpenHands/OpenHands/issues/9937
    this endpoint.s maximum context length
vllm UKGovernmentBEIS/inspect_ai/issues/2634
    maximum context length is [0-9]+ tokens\. however, (?:your request has|you requested [0-9]+ output tokens)
vllm vllm-project/vllm/issues/12165
    prompt \((?:total )?length [0-9]+\) is (?:longer than the maximum model length|too long to fit into the model)
openai chathub-dev/chathub/issues/126
    maximum context length is [0-9]+ tokens
gemini google-gemini/gemini-cli/issues/6678
    exceeds the maximum number of tokens allowed|input token count is [0-9]+ but (?:the )?model (?:only )?supports up to
bedrock aws-samples/bedrock-chat/issues/95
    input is too long for requested model
bedrock https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
    too many input tokens\. max input tokens
# Its schema of the request, where no field is named: the prompt of a model that takes a text.
bedrock ryanadoty/Amazon-Bedrock-Amazon-RDS-POC/issues/9
    malformed input request: expected maxlength: [0-9]{1,12}, actual: [0-9]{1,12}
snowflake posit-dev/positron/issues/11737
    max tokens of <limit> exceeded
mistral pydantic/pydantic-ai
    prompt contains <sent> tokens[^\n]{0,80}?too large for model with <limit> maximum context length
cohere https://docs.cohere.com/reference/errors
    size limit exceeded by <over> tokens(?:[^\n]{0,120}?the limit for this model is <limit> tokens)?
cohere cohere-ai/sandbox-topically/issues/4
    total number of tokens \(prompt and prediction\) cannot exceed <limit> - received <sent>
xai cline/cline/issues/3120
    maximum prompt length is <limit> but the request contains <sent> tokens
together BerriAI/litellm/issues/4934
    tokens \+ `?max_new_tokens`? must be <= <limit>\. given: <input> `?inputs`? tokens and <answer>
sglang sgl-project/sglang
    requested token count exceeds the model.s maximum context length
llama.cpp ggml-org/llama.cpp/pull/15780
    \bexceed_context_size_error\b|exceeds the available context size
llama-cpp-python abetlen/llama-cpp-python/issues/462
    requested tokens(?: \(<sent>\))? exceed context window of <limit>
lm-studio Gitlawb/openclaude/issues/353
    tokens to keep from the initial prompt is greater than the context length
lm-studio anomalyco/opencode/issues/11141
    cannot truncate prompt with n_keep \(<sent>\) >= n_ctx \(<limit>\)
ollama dyad-sh/dyad/issues/3498
    prompt too long; exceeded (?:max )?context length|input length exceeds the context length
github-copilot microsoft/copilot-intellij-feedback/issues/94
    prompt token count of <sent> exceeds the limit of <limit>
moonshot BigPizzaV3/CodexPlusPlus/issues/1803
    exceeded model token limit: <limit> \(requested: <sent>\)
groq thepersonalaicompany/amurex-backend/issues/51
    reduce the length of the messages or completion(?:\. current length is <sent> while limit is <limit>)?
qwen QwenLM/qwen-code/issues/98
    range of input length should be \[ ?1, ?<limit> ?\]
zhipu foreveryh/claude-code-switch/issues/12
    request <input> input tokens exceeds the model.s maximum context length <limit>
nim Kilo-Org/kilocode/issues/8698
    you passed <input> input tokens and requested <answer> output tokens\. however, the model.s context length is \
    only <limit> tokens
# The answer is given what the prompt leaves: less than nothing.
vllm cuga-project/cuga-agent/issues/439
    max_(?:completion_)?tokens must be at least 1, got -
tgi huggingface/text-generation-inference/issues/695
    `?inputs`? must have less than <limit> tokens\. given: <sent>
sambanova OpenHands/OpenHands/issues/9252
    maximum context length of [\w./:-]{1,80} is <limit>\. however, answering your request will take <sent> tokens
lm-studio lmstudio-ai/lmstudio-bug-tracker/issues/237
    when context the overflows|reached context length of [0-9]+ tokens with model|context size has been exceeded
cloudflare sst/opencode/blob/dev/packages/ai/src/provider-error.ts
    estimated number of input and maximum output tokens
# What OpenAI's SDK says of an answer that is empty; Mistral gives the same.
cerebras earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
    \b400 (?:status code )?\(no body\)
openai https://platform.openai.com/docs/guides/error-codes
    \bcontext_length_exceeded\b
litellm https://docs.litellm.ai/docs/exception_mapping
    \bContextWindowExceededError\b
"""
"""
Who says it and where that is told (on GitHub if nothing else is said), and below it the words.

In order: the first that matches names the provider, so that what others repeat stands last.
"""


def _read_table() -> Iterator[Refusal]:
    for row in re.split(r"\n(?=\S)", _TABLE.strip()):
        head, _, words = row.replace("\\\n    ", "").partition("\n    ")
        if not head.startswith("#"):
            provider, source = head.split()
            yield _make_refusal(provider, words, source if "://" in source else f"{_GITHUB}{source}")


REFUSALS: Final = tuple(_read_table())

TOO_LARGE_FOR_RATE: Final = _make_refusal(
    "openai",
    r"(?:request|prompt|input|messages?)\b[^\n.]{0,20}? too (?:large|long|big)\b[^\n]{0,200}?"
    r"(?:per[ _-](?:min|hour|day)|\bTP[MD]\b)(?:[^\n]{0,40}?limit:? <limit>, requested:? <sent>)?",
    "https://github.com/continuedev/continue/issues/10218",
)
"""One request that is larger than what may be sent in a minute is refused for its length, however long one waits."""

CODES: Final = frozenset(
    {
        "ERROR_LIMIT",  # Cohere's first API
        "OutofContextError",  # Volcengine
        "model_length",  # Mistral
    }
)
"""Codes, and reasons for stopping, that mean nothing else, beside those that say so in words."""

OTHER_LIMITS: Final = lazy_pattern(
    r"\b(?:per|this|each|every|last|past)[ _-](?:[0-9]+ )?(?:sec|min|hour|day|month)|\btoday\b|tokens?_per_|\bTP[MD]\b"
    r"|rate[ _-]?limit|too many requests|quota|throttl|resource_exhausted|credit|billing|please wait before"
    r"|higher (?:\w+ )?limit|insufficient[ _](?:balance|funds)|enqueued|batch size",
    re.IGNORECASE | re.ASCII,
)
"""Words of a limit over time, of money or of a batch; a shorter context would not help for long."""

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
    form = _make_refusal(provider, words, source)
    try:
        matches_anything = form.pattern.search("") is not None
    except re.error as error:
        raise ConfigurationError(f"the refusal {words!r} is no regular expression: {error}") from error
    if matches_anything:
        raise ConfigurationError(f"the refusal {words!r} matches any text: write words that only this refusal has")
    return form
