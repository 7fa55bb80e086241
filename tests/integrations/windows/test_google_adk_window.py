"""Google ADK: the real runner keeps what it sends within a small window, with a model that follows a script."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from itertools import pairwise
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from otel_errcompact.digest.tokens import estimate_mixed_tokens
from otel_errcompact.integrations.google_adk import CompactionPlugin
from otel_errcompact_context import ContextOptions, ContextWindow, MemoryArchive
from otel_errcompact_context.exceptions import ContextOverflowError
from otel_errcompact_context.integrations.google_adk import WindowPlugin
from tests.integrations.conftest import World

ROUNDS = 30
OPTIONS = ContextOptions(window_tokens=3_000, reserve_tokens=500, keep_results=2)
"""A room of 2,500 tokens for 30 results of about 150 each."""

TASK = "Find the slowest module."


def window_of(options: ContextOptions = OPTIONS, **more: Any) -> ContextWindow:
    return ContextWindow(options, archive=MemoryArchive(), count_tokens=estimate_mixed_tokens, observers=(), **more)


def tokens(contents: list[types.Content]) -> int:
    window = window_of(ContextOptions(window_tokens=1_000_000))
    return window.compact(contents, format="gemini").tokens_after


class Looking(BaseLlm):
    """
    Calls the tool so often, and is done then; refuses what is longer than its window, as Gemini does.

    Args:
        rounds: How often it calls the tool.
        limit: The most tokens that it takes.
        refusal: What it raises.
        failing: The turns in which it asks for what there is not.
    """

    rounds: int = ROUNDS
    limit: int = 1_000_000
    refusal: Any = None
    failing: tuple[int, ...] = ()
    turns: int = 0
    refusals: int = 0
    read: list[list[types.Content]] = []  # noqa: RUF012 - a field of pydantic's
    beside: int = 0
    usage: float = 0.0

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        contents = list(llm_request.contents)
        size = tokens(contents)
        if size > self.limit:
            self.refusals += 1
            raise self.refusal
        config = llm_request.config
        said: Any = config.system_instruction
        self.beside = window_of().count_beside([said, list(config.tools or ())])
        self.read.append(contents)
        self.turns += 1
        if self.turns > self.rounds:
            if stream:
                yield LlmResponse(content=types.ModelContent("done"), partial=True)
            yield LlmResponse(content=types.ModelContent("done"))
            return
        number = -self.turns if self.turns in self.failing else self.turns
        call = types.Part.from_function_call(name="profile", args={"number": number})
        counted = types.GenerateContentResponseUsageMetadata(prompt_token_count=int((size + self.beside) * self.usage))
        yield LlmResponse(
            content=types.Content(role="model", parts=[call]), usage_metadata=counted if self.usage else None
        )


def profile(number: int) -> str:
    """Profile a module."""
    if number < 0:
        raise LookupError(f"no module {number}")
    return f"module {number}: 12 ms\n" * 30


class Program:
    """
    An agent behind a runner.
    """

    def __init__(self, model: BaseLlm, *plugins: Any, **settings: Any) -> None:
        self.agent = LlmAgent(name="shop", model=model, tools=[profile], **settings)
        self.runner = InMemoryRunner(app=App(name="shop", root_agent=self.agent, plugins=list(plugins)))

    async def say(self, text: str, session: str = "s", mode: StreamingMode = StreamingMode.NONE) -> str:
        sessions = self.runner.session_service
        if await sessions.get_session(app_name="shop", user_id="u", session_id=session) is None:
            await sessions.create_session(app_name="shop", user_id="u", session_id=session)
        config = RunConfig(streaming_mode=mode)
        said = ""
        async for event in self.runner.run_async(
            user_id="u", session_id=session, new_message=types.UserContent(text), run_config=config
        ):
            said = event.content.parts[0].text or "" if event.content and event.content.parts else said
        return said


def looking(**settings: Any) -> Looking:
    return Looking(model="looking", read=[], **settings)


def assert_valid(contents: list[types.Content]) -> None:
    """Each content with calls is followed by one with as many responses, in order."""
    for place, content in enumerate(contents):
        names = [part.function_call.name for part in content.parts or () if part.function_call]
        behind = contents[place + 1].parts or () if names else ()
        assert [part.function_response.name for part in behind if part.function_response] == names
    assert contents[0].role == "user"


@pytest.mark.duty("window")
@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE], ids=["whole", "streamed"])
async def test_a_long_run_stays_within_a_small_window(mode: StreamingMode) -> None:
    """At every call of the model; the task is in each, and the session keeps all events whole."""
    model = looking()
    program = Program(model, WindowPlugin(window_of()))

    assert await program.say(TASK, mode=mode) == "done"

    assert len(model.read) == ROUNDS + 1
    assert all(tokens(read) + model.beside <= 2_500 for read in model.read)
    for read in model.read:
        assert_valid(read)
        assert (read[0].parts or [])[0].text == TASK
    session = await program.runner.session_service.get_session(app_name="shop", user_id="u", session_id="s")
    assert session is not None
    told = [event.content for event in session.events if event.content]
    assert tokens(told) > 4_500
    assert "[errcompact" not in json.dumps([content.model_dump(mode="json") for content in told])


async def test_between_two_cuts_each_request_begins_with_the_one_before() -> None:
    """Although ADK makes all contents anew for each call: so a provider's cache holds."""
    model = looking()
    await Program(model, WindowPlugin(window_of())).say(TASK)

    grown = [before == after[: len(before)] for before, after in pairwise(model.read)]
    assert grown.count(False) <= 6
    assert not all(grown)


async def test_what_was_not_cut_is_the_very_object() -> None:
    """That ADK has made for this call."""
    given: list[list[Any]] = []

    class Watching(WindowPlugin):
        async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
            before = {id(content) for content in llm_request.contents}
            await super().before_model_callback(callback_context=callback_context, llm_request=llm_request)
            given.append([id(content) in before or content.model_dump_json() for content in llm_request.contents])

    await Program(looking(), Watching(window_of())).say(TASK)
    assert all(one is True or "[errcompact" in one for own in given for one in own)
    assert given[-1].count(True) > 2
    assert given[0] == [True]


async def test_two_sessions_do_not_mix() -> None:
    """Though they are of one plugin, and run side by side."""
    plugin, model = WindowPlugin(window_of()), looking(rounds=25)
    program = Program(model, plugin)
    await program.say("the first task", "one")
    first = len(model.read)
    model.turns = 0
    await program.say("the second task", "two")
    texts = [json.dumps([content.model_dump(mode="json") for content in read]) for read in model.read]
    assert all("the first task" in text and "the second" not in text for text in texts[:first])
    assert all("the second task" in text and "the first" not in text for text in texts[first:])


REFUSAL = RuntimeError("The input token count (1800) exceeds the maximum number of tokens allowed (1200).")


@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE], ids=["whole", "streamed"])
async def test_a_refusal_is_survived(mode: StreamingMode) -> None:
    """The window is smaller than the options say: the request is compacted harder, and sent to the model again."""
    plugin, model = WindowPlugin(window_of()), looking(limit=1_200, refusal=REFUSAL)

    assert await Program(model, plugin).say(TASK, mode=mode) == "done"

    assert 1 <= model.refusals <= 4
    assert len(model.read) == ROUNDS + 1
    for read in model.read:
        assert_valid(read)
    assert plugin.guard.lowered_window("shop/u/s/shop") < 3_000


async def test_what_compacting_does_not_help_is_told() -> None:
    """By ADK's own error around ours, after as many attempts as the options say."""
    model = looking(limit=0, refusal=REFUSAL)
    with pytest.raises(RuntimeError, match="the context of session 'shop/u/s/shop' is too long") as caught:
        await Program(model, WindowPlugin(window_of())).say(TASK)
    assert isinstance(caught.value.__cause__, ContextOverflowError)
    assert caught.value.__cause__.__cause__ is REFUSAL
    assert model.refusals <= 3


async def test_another_error_passes_through() -> None:
    """Also where it comes from the second attempt."""
    with pytest.raises(ValueError, match="no such model"):
        await Program(looking(limit=0, refusal=ValueError("no such model")), WindowPlugin(window_of())).say(TASK)

    class Worse(Looking):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            if self.refusals:
                raise ValueError("down")
            async for response in super().generate_content_async(llm_request, stream):
                yield response

    model = Worse(model="worse", read=[], limit=1_200, refusal=REFUSAL)
    with pytest.raises((ValueError, RuntimeError), match="down"):
        await Program(model, WindowPlugin(window_of())).say(TASK)


async def test_estimates_are_calibrated_by_usage() -> None:
    """Where the model counts half as much again, as much less is sent."""
    model = looking(usage=1.5)
    plugin = WindowPlugin(window_of())
    await Program(model, plugin).say(TASK)
    assert plugin.guard.calibration.factor("shop/u/s/shop") == pytest.approx(1.5, rel=0.05)
    assert tokens(model.read[-1]) + model.beside <= 2_000


async def test_a_summary_is_written_before_the_call() -> None:
    """By an asynchronous summariser."""

    async def summarise(_: Any) -> str:
        return f"{TASK} All so far took 12 ms."

    model = looking()
    await Program(model, WindowPlugin(window_of(summarize=summarise))).say(TASK)
    assert any("All so far took 12 ms" in str(read) for read in model.read)
    for read in model.read:
        assert_valid(read)


async def test_system_prompt_and_tools_are_counted() -> None:
    """What they cost is not left for the contents."""
    model = looking()
    await Program(model, WindowPlugin(window_of()), instruction="Be brief. " * 300).say(TASK)
    assert model.beside > 600
    assert all(tokens(read) + model.beside <= 2_500 for read in model.read)


async def test_after_a_cut_digests_say_all_again(world: World) -> None:
    """A digest says its class at length once; what that was is gone from the request."""
    seen: list[str] = []
    for forgets in (True, False):
        compaction = CompactionPlugin()
        window = WindowPlugin(window_of(), runs=compaction.runs if forgets else None)
        model = looking(rounds=25, failing=(1, 25))
        await Program(model, compaction, window).say(TASK)
        answers = [part.function_response for part in model.read[-1][-1].parts or () if part.function_response]
        seen.append(str((answers[0].response or {})["error"]))
    assert "[LookupError] at profile" in seen[0]
    assert "[LookupError]: no module -25" in seen[1]
