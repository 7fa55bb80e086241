"""What holds for each layer and for any order of them, in all four formats."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_errcompact.config import ContextOptions
from otel_errcompact.digest.tokens import estimate_tokens
from otel_errcompact_context import providers
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.notes import invalidated_tokens
from otel_errcompact_context.window.layers import Workspace
from otel_errcompact_context.window.layers.micro import micro
from otel_errcompact_context.window.layers.repeats import repeats
from otel_errcompact_context.window.layers.results import results
from otel_errcompact_context.window.layers.snip import snip
from otel_errcompact_context.window.transcript import json_line
from packages.context.tests.conversations import FORMATS, LISTS_PER_LAW, broken_conversations, conversations, place_of
from packages.context.tests.window.pairing import pairs_of

if TYPE_CHECKING:
    from otel_errcompact_context.messages import Conversation
    from otel_errcompact_context.window.layers import Edited, Layer

FEW = settings(max_examples=LISTS_PER_LAW)
"""A whole conversation takes as long to make up as a hundred texts."""

LAYERS = [results, snip, micro, repeats]
ANY_ORDER = st.lists(st.sampled_from(LAYERS), min_size=1, max_size=4)
OPTIONS = st.builds(
    ContextOptions,
    result_budget_tokens=st.integers(1, 300),
    preview_tokens=st.integers(20, 60),
    snip_messages=st.integers(8, 20),
    head_messages=st.integers(1, 6),
    keep_results=st.integers(1, 3),
    clearable_tools=st.sampled_from([frozenset(), frozenset(), frozenset({"read_file", "search"})]),
)
TARGET = st.integers(0, 600)


class FullDisk(MemoryArchive):
    """An archive that gives back what it has, and takes nothing more."""

    def keep(self, text: str) -> str:
        raise OSError(28, "No space left on device")


def workspace(options: ContextOptions, target: int, archive: MemoryArchive | None = None) -> Workspace:
    """What the layers work with."""
    return Workspace(
        archive=archive or MemoryArchive(), options=options, count_tokens=estimate_tokens, target_tokens=target
    )


def run(conversation: Conversation, layers: list[Layer], space: Workspace) -> list[tuple[Conversation, Edited]]:
    """Run layers one after another; what each was given, and what it made of it."""
    steps = []
    for layer in layers:
        edited = layer(conversation, space)
        steps.append((conversation, edited))
        conversation = edited.conversation
    return steps


def check_step(before: Conversation, edited: Edited, space: Workspace) -> None:
    """What must hold after each layer, whatever it was given."""
    after = edited.conversation
    assert after.tokens <= before.tokens
    assert [message.tokens for message in after.messages] == [message.tokens for message in read_again(after).messages]
    assert (after is before) == (not edited.cuts)
    assert invalidated_tokens(before, after) == sum(
        message.tokens for message in before.messages[min((cut.message for cut in edited.cuts), default=10**9) :]
    )
    for cut in edited.cuts:
        check_cut(before, cut, space)
        assert cut.tokens_after < cut.tokens_before
    assert before.tokens - after.tokens == sum(cut.tokens_before - cut.tokens_after for cut in edited.cuts)


def check_cut(before: Conversation, cut, space: Workspace) -> None:
    """What was cut is read back, to the character."""
    whole = space.archive.read(cut.place)
    if cut.messages:
        gone = before.messages[cut.message : cut.message + cut.messages]
        write = providers.PROVIDERS[before.format].write_message
        natives = [write(message) if message.native is None else message.native for message in gone]
        assert [json.loads(line) for line in whole.split("\n")] == natives
        return
    parts = [
        part for part in before.messages[cut.message].parts if part.call_id == cut.call_id and part.kind == "result"
    ]
    assert any(
        whole == part.text
        or place_of(part.text) == cut.place  # It was kept before.
        or (part.tokens > estimate_tokens(part.text) and whole == json_line(part.native))
        for part in parts
    )


def read_again(conversation: Conversation) -> Conversation:
    """What a program reads that gets the written list back in its next turn."""
    return providers.read_list(providers.write_list(conversation), estimate_tokens, conversation.format)


@FEW
@given(format=st.sampled_from(FORMATS), data=st.data(), layers=ANY_ORDER, options=OPTIONS, target=TARGET)
def test_any_order_of_layers_on_a_valid_conversation(format, data, layers, options, target) -> None:
    """The result is valid and no larger, every call has its result, and all that was cut is there."""
    messages = data.draw(conversations(format, max_turns=4))
    untouched = copy.deepcopy(messages)
    given_ = providers.read_list(messages, estimate_tokens, format)
    allowed = providers.find_problems(given_)
    space = workspace(options, target)
    steps = run(given_, layers, space)
    for before, edited in steps:
        check_step(before, edited, space)
        assert edited.problem == ""
        assert providers.find_problems(edited.conversation) == allowed == ()
        assert pairs_of(edited.conversation.messages).orphans == ()
    assert messages == untouched
    last = steps[-1][1].conversation
    by_identity = {id(message) for message in messages}
    assert all(
        id(native) in by_identity
        for message, native in zip(last.messages, providers.write_list(last), strict=True)
        if not message.edited and message.native is not None
    )


@FEW
@given(layer=st.sampled_from(LAYERS), format=st.sampled_from(FORMATS), data=st.data(), options=OPTIONS, target=TARGET)
def test_a_second_run_changes_nothing(layer, format, data, options, target) -> None:
    """Neither in the same turn nor when the written list comes back in the next one."""
    messages = data.draw(conversations(format, max_turns=4))
    space = workspace(options, target)
    once = layer(providers.read_list(messages, estimate_tokens, format), space).conversation
    assert layer(once, space).conversation is once
    again = read_again(once)
    assert layer(again, space).conversation is again


@FEW
@given(format=st.sampled_from(FORMATS), data=st.data(), layers=ANY_ORDER, options=OPTIONS, target=TARGET)
def test_a_full_disk_changes_nothing(format, data, layers, options, target) -> None:
    """What cannot be kept is not cut, and whoever would have cut it says so."""
    messages = data.draw(conversations(format, max_turns=4))
    conversation = providers.read_list(messages, estimate_tokens, format)
    would_cut = {layer: bool(layer(conversation, workspace(options, target)).cuts) for layer in layers}
    for layer in layers:
        edited = layer(conversation, workspace(options, target, FullDisk()))
        assert edited.conversation is conversation
        assert edited.cuts == ()
        assert not would_cut[layer] or "No space left on device" in edited.problem


@FEW
@given(format=st.sampled_from(FORMATS), data=st.data(), layers=ANY_ORDER, options=OPTIONS, target=TARGET)
def test_a_broken_conversation_becomes_no_worse(format, data, layers, options, target) -> None:
    """Orphans, doubled ids, calls without a result: nothing raises, nothing is lost, no further problem appears."""
    messages = data.draw(broken_conversations(format))
    untouched = copy.deepcopy(messages)
    conversation = providers.read_list(messages, estimate_tokens, format)
    space = workspace(options, target)
    for before, edited in run(conversation, layers, space):
        check_step(before, edited, space)
        assert len(providers.find_problems(edited.conversation)) <= len(providers.find_problems(before))
        assert len(pairs_of(edited.conversation.messages).orphans) <= len(pairs_of(before.messages).orphans)
    assert messages == untouched
