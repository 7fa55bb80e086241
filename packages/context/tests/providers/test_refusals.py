"""Forms of refusals that an application adds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.providers import refusals
from otel_errcompact_context.providers.overflow import overflow_in_body, overflow_in_error, overflow_in_reply
from otel_errcompact_context.window.window import ContextWindow

if TYPE_CHECKING:
    from collections.abc import Iterator

SAYS = "Slab 70,000 above shelf 65536"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    for words in list(refusals._registered.entries):
        refusals._registered.pop(words)


class SlabError(Exception):
    """As a provider raises it that nobody knows."""

    status_code = 429


def test_a_registered_form_is_recognised_until_it_is_taken_out() -> None:
    """With its numbers, whatever the status; in bodies, errors and replies."""
    assert overflow_in_body(SAYS, 429) is None
    take_out = refusals.register("slab <sent> above shelf <limit>", provider="ours")
    for found in (
        overflow_in_body({"error": SAYS}, 429),
        overflow_in_error(SlabError(SAYS)),
        overflow_in_reply({"error": {"message": SAYS}}),
    ):
        assert found is not None
        assert (found.provider, found.limit_tokens, found.sent_tokens) == ("ours", 65_536, 70_000)
    assert [form.provider for form in refusals.registered_forms()] == ["ours"]
    take_out()
    assert overflow_in_body(SAYS, 429) is None


def test_the_newest_of_a_form_counts_and_only_it_takes_itself_out() -> None:
    """A form that took another's place is not taken out by it."""
    first = refusals.register("above shelf <limit>", provider="first")
    refusals.register("above shelf <limit>", provider="second")
    first()
    assert [form.provider for form in refusals.registered_forms()] == ["second"]


def test_a_registered_form_comes_before_what_is_known() -> None:
    """The application knows its provider best."""
    refusals.register("prompt is too long", provider="ours")
    found = overflow_in_body("prompt is too long: 12 tokens > 10 maximum")
    assert found is not None
    assert found.provider == "ours"


class ContextWindowExceededError(Exception):
    """As LiteLLM raises it."""


def test_a_registered_form_reads_the_numbers_of_an_error_known_by_its_class() -> None:
    """The class says what it is, and the form how much."""
    refusals.register("slab <sent> above shelf <limit>")
    found = overflow_in_error(ContextWindowExceededError(SAYS))
    assert found is not None
    assert (found.provider, found.limit_tokens) == ("registered", 65_536)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param("shelf (", "the refusal 'shelf (' is no regular expression: ", id="no regular expression"),
        pytest.param("", "the refusal '' matches any text", id="nothing"),
        pytest.param("x*", "the refusal 'x*' matches any text", id="anything"),
        pytest.param("shelf <size>", "the refusal 'shelf <size>' names size: write <limit> or <sent>", id="a name"),
        pytest.param("by <over>", "the refusal 'by <over>' names over: write <limit> or <sent>", id="a part"),
        pytest.param(r"(?P<limit>\d+)", "names a group of its own: write <limit>", id="a group"),
        pytest.param("<limit> or <limit>", "is no regular expression: redefinition of group", id="a name twice"),
    ],
)
def test_a_bad_form_is_one_clear_error(words: str, says: str) -> None:
    """Registered or as an option, before anything is sent."""
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        refusals.register(words)
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        ContextWindow(ContextOptions(refusals=(words,)), archive=MemoryArchive())
    assert refusals.registered_forms() == ()


def test_an_option_adds_forms_for_one_window() -> None:
    """A guard of another window does not know them."""
    options = ContextOptions(
        window_tokens=80_000, reserve_tokens=1_000, refusals=("no such words", "slab <sent> above shelf <limit>")
    )
    messages = [{"role": "user", "content": "the task"}] + [{"role": "user", "content": "x" * 5_000}] * 50
    script: list[object] = [SlabError(SAYS), {"error": {"message": SAYS.replace("65536", "64000")}}, "fine"]

    def send(_: list[object]) -> object:
        said = script.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    guard = OverflowGuard(ContextWindow(options, archive=MemoryArchive(), observers=()), on_overflow=lambda *_: None)
    assert guard.call(send, messages, session="s").reply == "fine"
    assert guard.lowered_window("s") <= 65_536
    script[:] = [SlabError(SAYS)]
    other = OverflowGuard(ContextWindow(ContextOptions(), archive=MemoryArchive()))
    with pytest.raises(SlabError):
        other.call(send, messages)


def test_forms_are_read_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several stand with commas between."""
    monkeypatch.setenv("OTEL_ERRCOMPACT_CONTEXT_REFUSALS", "above shelf <limit>, out of slab")
    guard = OverflowGuard(ContextWindow(archive=MemoryArchive()))
    assert [form.pattern.search("out of slab") is not None for form in guard.forms] == [False, True]
