"""
The windows of known models, by the names that providers, clouds and gateways give them.

What a list may cost at the most: the input, where a provider limits it apart from the answer, else the whole window. A
window that is set too small costs an early compaction; one too large a refused call, from which it is learned. What is
not listed, here or by LiteLLM where that is installed, is not guessed: a next version may have another window.

Rows of open weights are what their model cards are known to say. Ours come before LiteLLM's, which now and then has the
window in place of the input; give `window_tokens` where a host has less.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping


class ModelWindow(NamedTuple):
    """The window of some models."""

    names: re.Pattern[str]
    """Matches their names, without the name of the provider in front."""

    tokens: int
    """What a list and all beside it may cost together."""

    source: str
    """The provider's document of its models."""


_TABLE: Final = r"""
https://platform.claude.com/docs/en/about-claude/models/overview
1_000_000 claude-opus-4[-.][678] claude-sonnet-4[-.]6 claude-(?:opus|sonnet)-5(?:[-.]5)?
1_000_000 claude-(?:fable|mythos)-5(?:[-.]1)? claude-mythos-preview claude-haiku-5[-.]5
200_000 claude-(?:opus|sonnet|haiku)-4[-.]5 claude-opus-4(?:[-.][01])? claude-sonnet-4(?:[-.]0)?
200_000 claude-3(?:[-.][57])?-(?:opus|sonnet|haiku)
https://developers.openai.com/api/docs/models
128_000 gpt-5(?:\.[123])?-chat gpt-4o gpt-4-turbo gpt-4-(?:1106|0125)-preview
# A window of 1,050,000, of which 128,000 are the answer's.
922_000 gpt-6-(?:astra|sol|luna) gpt-6\.1-sol gpt-5\.6(?:-(?:sol|terra|luna))?(?!-cyber)
922_000 gpt-5\.[45](?!-(?:mini|nano|cyber))
# A window of 400,000, of which 128,000 are the answer's; of gpt-5-pro it is more.
272_000 gpt-5(?:\.[123])?(?!-pro) gpt-5\.2-pro gpt-5\.4-(?:mini|nano)
1_047_576 gpt-4\.1
200_000 o1(?!-(?:mini|preview)) o3 o4-mini
131_072 gpt-oss-(?:20b|120b)
32_768 gpt-4-32k
16_385 gpt-3\.5-turbo(?!-instruct)
8_192 gpt-4(?:-0613)?$
https://ai.google.dev/gemini-api/docs/models
8_192 gemini-[\d.]+-(?:pro|flash)(?:-lite)?-preview-tts
2_097_152 gemini-1\.5-pro
1_048_576 gemini-(?:1\.5|2\.0|2\.5|3|3\.1|3\.5|3\.6|3\.7|3\.8)-(?:pro|flash)(?!.*(?:image|live|audio|computer|tts))
1_048_576 gemini-4-argon gemini-(?:pro|flash|flash-lite)-latest
https://api-docs.deepseek.com/quick_start/pricing
1_000_000 deepseek-v4-(?:flash|pro) deepseek-flash
131_072 deepseek-chat deepseek-reasoner
https://huggingface.co/deepseek-ai/DeepSeek-V3
131_072 deepseek-(?:v3|r1)(?!-distill)
https://huggingface.co/Qwen/Qwen3-32B
32_768 qwen3-(?:0\.6b|1\.7b|4b|8b|14b|32b)(?!.*2507)
https://huggingface.co/Qwen/Qwen2.5-7B-Instruct
32_768 qwen2\.5-(?:\d+b|coder-\d+b)(?!.*1m)
https://huggingface.co/meta-llama/Llama-4-Maverick-17B-128E
1_000_000 llama-?4-maverick
https://huggingface.co/meta-llama/Llama-3.3-70B-Instruct
131_072 (?:meta-)?llama-?v?3[.p-][123]
https://huggingface.co/meta-llama/Meta-Llama-3-70B
8_192 (?:meta-)?llama-?v?3-(?:8b|70b)
"""
"""Below the document of a provider its windows, with patterns of names."""

_BEGIN: Final = r"(?:^|[.:~])(?:"
_END: Final = r")(?![a-z0-9])(?![.-]\d{1,2}(?![\db]))"
"""A further short number is a further version, whose window is not known; a date or a size is not."""


def _read_table() -> Iterator[ModelWindow]:
    source = ""
    for first, *names in map(str.split, _TABLE.strip().split("\n")):
        if not names:
            source = first
        elif first != "#":
            yield ModelWindow(lazy_pattern(_BEGIN + "|".join(names) + _END), int(first), source)


MODELS: Final = tuple(_read_table())

_LITELLM: Final = "model_prices_and_context_window_backup.json"
_MODES: Final = frozenset({"chat", "completion", "responses"})

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
    if not name or _OWN_SERVER.search(name):
        return None
    bare = name.rpartition("/")[2]
    found = next((row.tokens for row in MODELS if row.names.search(bare)), None)
    if found is None:
        return _find_listed(name.removesuffix(_ASKED_LONG))
    return _LONG_CLAUDE if name.endswith(_ASKED_LONG) else found


def _find_listed(name: str) -> int | None:
    # `openrouter/mistralai/mistral-large`, `mistralai/mistral-large`, `mistral-large`: what the host gives comes first.
    listed, rest = read_litellm(), name
    while rest and rest not in listed:
        rest = rest.partition("/")[2]
    return listed.get(rest)


@cache
def read_litellm() -> Mapping[str, int]:
    """
    Read LiteLLM's windows as data, without importing it; empty where it is not installed.

    A name without its host has the window that most hosts give it.
    """
    try:
        folder = (find_spec("litellm").submodule_search_locations or [])[0]  # type: ignore[union-attr]
        rows: dict[str, dict[str, Any]] = json.loads(Path(folder, _LITELLM).read_bytes())
        listed = {name.lower(): row["max_input_tokens"] for name, row in rows.items() if _is_listed(row)}
        by_model: dict[str, list[int]] = {}
        for name, tokens in listed.items():
            by_model.setdefault(name.rpartition("/")[2], []).append(tokens)
        return {**{name: Counter(tokens).most_common(1)[0][0] for name, tokens in by_model.items()}, **listed}
    except Exception:  # noqa: BLE001 - not installed, or a table of another form: then ours is all there is
        return {}


def _is_listed(row: dict[str, Any]) -> bool:
    return row.get("mode") in _MODES and type(row.get("max_input_tokens")) is int
