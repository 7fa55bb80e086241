"""The windows of known models."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from otel_errcompact_context.providers.models import MODELS, read_litellm, window_of_model


@pytest.fixture(name="table")
def _table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of LiteLLM's table, which is not there before a test writes it."""
    place = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr("otel_errcompact_context.providers.models.find_spec", lambda _: place)
    for cached in (read_litellm, window_of_model):
        cached.cache_clear()
    yield tmp_path / "model_prices_and_context_window_backup.json"
    for cached in (read_litellm, window_of_model):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        pytest.param("claude-sonnet-4-5", 200_000, id="an alias"),
        pytest.param("claude-sonnet-4-5-20250929", 200_000, id="with its date"),
        pytest.param("claude-sonnet-4-20250514", 200_000, id="a date is no version"),
        pytest.param("claude-3-5-haiku-latest", 200_000, id="the order of older names"),
        pytest.param("claude-opus-4-6", 1_000_000, id="a larger window of a later version"),
        pytest.param("claude-sonnet-4-5[1m]", 1_000_000, id="the long window of Claude Code"),
        pytest.param("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, id="Bedrock"),
        pytest.param(
            "arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-1-8b-instruct-v1:0", 131_072, id="an ARN"
        ),
        pytest.param("vertex_ai/claude-opus-4-5@20251101", 200_000, id="Vertex"),
        pytest.param("openrouter/anthropic/claude-opus-4.8", 1_000_000, id="OpenRouter"),
        pytest.param("gpt-4o-mini-2024-07-18", 128_000, id="OpenAI with its date"),
        pytest.param("GPT-4.1", 1_047_576, id="capitals"),
        pytest.param("gpt-4", 8_192, id="the first GPT-4"),
        pytest.param("gpt-4-32k-0613", 32_768, id="the longer of the first"),
        pytest.param("openai:gpt-5-mini", 272_000, id="the input of GPT-5, not its window"),
        pytest.param("gpt-5.4-nano", 272_000, id="a small one of a large family"),
        pytest.param("gpt-5.5-2026-04-23", 922_000, id="a large one"),
        pytest.param("gpt-5-chat-latest", 128_000, id="the model of the chat"),
        pytest.param("ft:gpt-4o-2024-08-06:us::9a", 128_000, id="a tuned one"),
        pytest.param("o3", 200_000, id="a reasoning model"),
        pytest.param("models/gemini-2.5-pro", 1_048_576, id="Gemini"),
        pytest.param("gemini-3.8-flash", 1_048_576, id="a later Gemini"),
        pytest.param("gemini-2.5-pro-preview-tts", 8_192, id="a Gemini that speaks"),
        pytest.param("deepseek/deepseek-chat", 131_072, id="DeepSeek"),
        pytest.param("Qwen/Qwen3-32B", 32_768, id="open weights of Qwen"),
        pytest.param("meta-llama/Llama-3.3-70B-Instruct", 131_072, id="Llama"),
        pytest.param("meta.llama3-1-70b-instruct-v1:0", 131_072, id="Llama on Bedrock"),
        pytest.param("accounts/fireworks/models/llama-v3p1-70b-instruct", 131_072, id="Llama at Fireworks"),
        pytest.param("llama3-70b-8192", 8_192, id="the first Llama 3"),
    ],
)
def test_the_window_of_a_model_is_found_by_any_of_its_names(model: str, tokens: int) -> None:
    """Providers, clouds and gateways spell one model in many ways."""
    assert window_of_model(model) == tokens


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("", id="none"),
        pytest.param("my-deployment", id="a name of one's own"),
        pytest.param("claude-sonnet-4-9", id="a later version of Claude"),
        pytest.param("claude-9", id="a later family"),
        pytest.param("gpt-4.7", id="a later version of GPT-4"),
        pytest.param("gpt-5.9", id="a later version of GPT-5"),
        pytest.param("gpt-5-pro", id="one whose answer takes most of the window"),
        pytest.param("gpt-45", id="another number"),
        pytest.param("not-gpt-4o", id="in the middle of a name"),
        pytest.param("gpt-4o1", id="the beginning of another name"),
        pytest.param("gpt-4-vision-preview", id="a variant that is not listed"),
        pytest.param("gemini-2.5-flash-image", id="a Gemini that draws"),
        pytest.param("ollama/llama3.1", id="on a server of one's own"),
        pytest.param("llama3.1:8b", id="a tag of Ollama"),
        pytest.param("qwen2.5-7b:latest", id="the latest tag"),
        pytest.param("custom[1m]", id="a long window of an unknown model"),
    ],
)
@pytest.mark.usefixtures("table")
def test_an_unknown_window_is_not_guessed(model: str) -> None:
    """The default counts then, and refusals teach the rest."""
    assert window_of_model(model) is None


def test_each_window_names_its_document() -> None:
    """So that it can be looked up again."""
    assert {row.source.partition("//")[0] for row in MODELS} == {"https:"}
    assert all(row.tokens >= 8_192 for row in MODELS)


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        pytest.param("gpt-4.1", 1_047_576, id="ours comes first"),
        pytest.param("mistral/mistral-large-latest", 262_144, id="a provider's"),
        pytest.param("azure_ai/mistral-large-latest", 128_000, id="a host's own"),
        pytest.param("my-gateway/mistral/mistral-large-latest", 262_144, id="behind a gateway"),
        pytest.param("mistral-large-latest", 262_144, id="without a host, what most give it"),
        pytest.param("ollama/mistral-large-latest", None, id="on a server of one's own"),
        pytest.param("mistral/mistral-embed", None, id="no model that answers"),
        pytest.param("sample_spec", None, id="no row"),
    ],
)
def test_what_is_not_ours_is_looked_up_in_litellms_table(table: Path, model: str, tokens: int | None) -> None:
    """As data: to import it takes seconds."""
    rows = {
        "sample_spec": {"max_input_tokens": "max input tokens, if the provider specifies it", "mode": "chat"},
        "gpt-4.1": {"max_input_tokens": 7, "mode": "chat"},
        "mistral/Mistral-Large-Latest": {"max_input_tokens": 262_144, "mode": "chat"},
        "azure_ai/mistral-large-latest": {"max_input_tokens": 128_000, "mode": "chat"},
        "openrouter/mistralai/mistral-large-latest": {"max_input_tokens": 262_144, "mode": "chat"},
        "mistral/mistral-embed": {"max_input_tokens": 8_192, "mode": "embedding"},
    }
    table.write_text(json.dumps(rows), encoding="utf-8")
    assert window_of_model(model) == tokens


def test_a_table_of_another_form_is_none(table: Path) -> None:
    """A guest raises nothing for somebody else's file."""
    table.write_text("[1]", encoding="utf-8")
    assert window_of_model("mistral/mistral-large-latest") is None


@pytest.mark.skipif(find_spec("litellm") is None, reason="LiteLLM is not installed here")
def test_the_real_table_is_read() -> None:
    """And not imported."""
    assert len(read_litellm()) > 1_000
    assert window_of_model("mistral/mistral-large-latest") in range(32_000, 2_000_000)
    assert window_of_model("xai/grok-4") in range(32_000, 4_000_000)
    assert "litellm" not in sys.modules
