"""The providers' own compaction, over clients that answer as the interfaces are documented."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.window.endpoints import anthropic_compaction, openai_compaction
from otel_errcompact_context.window.layers.requests import SummaryRequest

TASK = {"role": "user", "content": "the task"}
LATER = {"role": "user", "content": [{"type": "input_text", "text": "later"}]}
ITEM = SimpleNamespace(type="compaction", id="cmp_1", encrypted_content="opaque")


def request(format: Any, messages: tuple[object, ...] = (TASK, LATER)) -> SummaryRequest:
    return SummaryRequest(
        instructions="Summarise.", messages=messages, transcript="", format=format, session="a", place="/kept/1",
        limit_tokens=500, replaced_tokens=2_000,
    )  # fmt: skip


class Client:
    """Answers with what it is given, and keeps what it was asked."""

    def __init__(self, answer: object, *, is_async: bool = False) -> None:
        self.asked: dict[str, Any] = {}

        def ask(**asked: Any) -> Any:
            self.asked = asked

            async def later() -> object:
                return answer

            return later() if is_async else answer

        self.responses = SimpleNamespace(compact=ask)
        self.beta = SimpleNamespace(messages=SimpleNamespace(create=ask))


async def test_openai_compacts_and_the_task_is_not_told_twice() -> None:
    """It stays in the list itself; what users said later goes on."""
    said = SimpleNamespace(role="user", content=[SimpleNamespace(type="input_text", text="the task")])
    answer = SimpleNamespace(output=[said, LATER, ITEM])
    client = Client(answer)
    assert openai_compaction(client, "gpt", timeout=9)(request("openai-responses")) == [LATER, ITEM]
    assert client.asked == {"model": "gpt", "input": [TASK, LATER], "timeout": 9}
    waited: Any = openai_compaction(Client(answer, is_async=True), "gpt")(request("openai-responses"))
    assert await waited == [LATER, ITEM]


@pytest.mark.parametrize(
    ("output", "messages"),
    [
        pytest.param([LATER, ITEM], (TASK,), id="no task"),
        pytest.param([ITEM], (), id="nothing said"),
        pytest.param([], (TASK,), id="nothing"),
        pytest.param([{"role": "user"}, ITEM], (TASK,), id="no content"),
    ],
)
def test_what_is_no_task_stays(output: list[object], messages: tuple[object, ...]) -> None:
    """Nothing is taken out by guess."""
    client = Client(SimpleNamespace(output=output))
    assert openai_compaction(client, "gpt")(request("openai-responses", messages)) == output


async def test_anthropic_compacts_and_the_text_is_taken() -> None:
    """Within the limit of the request; a compaction that failed is an empty summary, which is refused later."""
    block = {"type": "compaction", "content": "in short", "signature": "s"}
    client = Client({"stop_reason": "compaction", "content": [block]})
    summarize = anthropic_compaction(client, "claude", system="Be brief.", betas=["context-1m-2025-08-07"])
    assert summarize(request("anthropic")) == "in short"
    assert client.asked == {
        "model": "claude",
        "max_tokens": 500,
        "messages": [TASK, LATER],
        "betas": ["compact-2026-09-04", "context-1m-2025-08-07"],
        "extra_body": {"compaction": {"type": "summarize", "instructions": "Summarise."}},
        "system": "Be brief.",
    }
    failed = Client(SimpleNamespace(content=[SimpleNamespace(type="compaction", content=None)]), is_async=True)
    waited: Any = anthropic_compaction(failed, "claude")(request("anthropic"))
    assert await waited == ""


def test_each_takes_the_lists_of_its_provider() -> None:
    """Others could not be read there."""
    with pytest.raises(
        ConfigurationError, match="openai_compaction compacts lists of the format openai-responses, not"
    ):
        openai_compaction(Client(None), "gpt")(request("openai-chat"))
    with pytest.raises(
        ConfigurationError, match="anthropic_compaction compacts lists of the format anthropic, not gemini"
    ):
        anthropic_compaction(Client(None), "claude")(request("gemini"))
