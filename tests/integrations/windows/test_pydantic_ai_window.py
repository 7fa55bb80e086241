"""The capability that keeps Pydantic AI's messages within the model's window."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, ImageUrl
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context.integrations.pydantic_ai import WindowCapability
from tests.integrations.windows.lists import LINES, TooLongError, small

pytestmark = pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")


class Model:
    """Reads so many files, remembers what it was given, and refuses some requests as too long."""

    def __init__(self, calls: int, refusals: tuple[int, ...] = ()) -> None:
        self.given: list[list[ModelMessage]] = []
        self.calls = calls
        self.refusals = refusals
        self.answers = 0

    def respond(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.given.append(list(messages))
        if len(self.given) in self.refusals:
            raise TooLongError
        number, self.answers = self.answers, self.answers + 1
        if number >= self.calls:
            return ModelResponse(parts=[TextPart("done")])
        call = ToolCallPart("read", {"path": f"{number}.py"}, tool_call_id=f"c{number}")
        return ModelResponse(parts=[ThinkingPart("hm"), TextPart("I read."), call])


def read(path: str) -> str:
    """Read a file."""
    return f"{path}\n{LINES}"


def agent_of(model: Model, **options: Any) -> Agent[None, str]:
    """An agent with a small window."""
    return Agent(FunctionModel(model.respond), tools=[read], capabilities=[WindowCapability(small(**options))])


def parts(messages: list[ModelMessage], kind: type) -> list[Any]:
    """The parts of a kind, in order."""
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


def size(messages: list[ModelMessage]) -> int:
    """About what messages cost."""
    return sum(
        estimate_tokens(str(getattr(part, "content", "")) + str(getattr(part, "args", "")))
        for message in messages
        for part in message.parts
    )


@pytest.mark.duty("window", says="no retry after a refusal")
def test_a_long_run_stays_within_the_window() -> None:
    """Each request fits and is in order, the same beginning is sent the same way, and the run keeps everything."""
    model = Model(20)
    result = agent_of(model, window_tokens=6_000, reserve_tokens=1_000).run_sync("Read all.")
    assert result.output == "done"
    assert all(part.content.endswith(LINES) for part in parts(result.all_messages(), ToolReturnPart))
    assert len(model.given) == 21
    kept = 0
    for earlier, given in zip([[], *model.given], model.given, strict=False):
        assert size(given) <= 5_000
        calls = [part.tool_call_id for part in parts(given, ToolCallPart)]
        assert calls == [part.tool_call_id for part in parts(given, ToolReturnPart)]
        kept += [message.parts for message in given[: len(earlier)]] == [message.parts for message in earlier]
    assert kept >= 17
    assert any("[errcompact " in str(part.content) for part in parts(model.given[-1], ToolReturnPart))


def test_a_refusal_passes_through() -> None:
    """The framework makes a request once."""
    with pytest.raises(TooLongError):
        agent_of(Model(2, refusals=(3,))).run_sync("Read all.")


def test_two_runs_do_not_mix() -> None:
    """Though one capability serves both."""
    capability = WindowCapability(small())
    assert capability.guard.window.options.window_tokens == 2_000
    for text in ("Read all for Ada.", "Read all for Bob."):
        model = Model(9)
        Agent(FunctionModel(model.respond), tools=[read], capabilities=[capability]).run_sync(text)
        assert all(parts(given, UserPromptPart)[0].content == text for given in model.given)


def test_every_part_comes_back_as_what_it_was() -> None:
    """Edited where something was cut, and untouched beside it."""
    history: list[ModelMessage] = [
        ModelRequest(parts=[SystemPromptPart("Be short.")]),
        ModelRequest(parts=[UserPromptPart(["Look at this.", ImageUrl("https://x.io/a.png"), "w" * 2_000])]),
        ModelResponse(parts=[ToolCallPart("write", {"text": "x" * 8_000}, tool_call_id="w")]),
        ModelRequest(parts=[RetryPromptPart("y" * 4_000, tool_name="write", tool_call_id="w")]),
        ModelResponse(parts=[TextPart("z" * 4_000)]),
        ModelRequest(parts=[RetryPromptPart("Answer in JSON."), UserPromptPart("Go on.")], instructions="i" * 400),
    ]
    model = Model(0)
    agent_of(model, window_tokens=4_000).run_sync("And now?", message_history=history)
    (given,) = model.given
    assert size(given) < size(history)
    assert parts(given, UserPromptPart)[-1].content == "And now?"
    assert {part.tool_call_id for part in parts(given, ToolCallPart)} <= {"w"}
    assert history[2].parts[0].args == {"text": "x" * 8_000}  # type: ignore[union-attr]


@pytest.mark.parametrize("window", [2_400, 3_000, 5_000, 9_000])
def test_any_window_gives_a_request_in_order(window: int) -> None:
    """Whatever is edited: texts, prompts of several items, arguments, retries."""
    history: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(["Look." * 300, "And here." * 300])])]
    for number in range(4):
        call = ToolCallPart("write", {"text": f"{number} " + "word " * 1_500}, tool_call_id=f"w{number}")
        retry = RetryPromptPart("wrong " * 700, tool_name="write", tool_call_id=f"w{number}")
        history += [ModelResponse(parts=[TextPart("I write. " * 200), call]), ModelRequest(parts=[retry])]
    model = Model(0)
    agent_of(model, window_tokens=window).run_sync("And now?", message_history=history)
    (given,) = model.given
    calls = [part.tool_call_id for part in parts(given, ToolCallPart)]
    answers = [p.tool_call_id for p in parts(given, object) if isinstance(p, (ToolReturnPart, RetryPromptPart))]
    assert calls == answers
    assert size(given) < size(history)


def test_a_last_turn_that_does_not_fit_is_shortened_part_by_part() -> None:
    """Texts, arguments, results, retries, and each text of a prompt of several items; a picture stays."""
    picture = ImageUrl("https://x.io/a.png")
    calls = [
        TextPart("I write. " * 400),
        ThinkingPart("hm"),
        ToolCallPart("write", {"text": "word " * 1_500}, tool_call_id="w"),
        ToolCallPart("read", {"path": "a.py"}, tool_call_id="r"),
    ]
    answers = [
        RetryPromptPart("wrong " * 700, tool_name="write", tool_call_id="w"),
        ToolReturnPart("read", "line " * 900, tool_call_id="r"),
        UserPromptPart(["Look. " * 2_500, picture, "And here."]),
    ]
    history: list[ModelMessage] = [
        ModelRequest(parts=[SystemPromptPart("Be short."), UserPromptPart("Write it.")]),
        ModelResponse(parts=calls),
        ModelRequest(parts=answers, instructions="Be kind."),
    ]
    model = Model(0)
    agent_of(model, window_tokens=4_600).run_sync(message_history=history)
    (given,) = model.given
    response, request = given[1].parts, given[2].parts
    assert response[0].content.startswith("[errcompact reactive: ")
    assert response[2].args_as_dict()["errcompact"].startswith("[errcompact reactive: ")
    assert response[3] is calls[3]
    assert [type(part) for part in request] == [ToolReturnPart, ToolReturnPart, UserPromptPart]
    assert all("[errcompact " in part.content for part in request[:2])
    assert "[errcompact " in request[2].content[0]
    assert request[2].content[1:] == [picture, "And here."]
    assert size(given) < size(history) / 2
