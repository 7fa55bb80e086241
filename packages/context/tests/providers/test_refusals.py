"""Forms of refusals that an option adds."""

from __future__ import annotations

import re

import pytest

from otel_errcompact.config import ContextOptions
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.guard.guard import OverflowGuard
from otel_errcompact_context.memory.archive import MemoryArchive
from otel_errcompact_context.providers.overflow import overflow_in_body, overflow_in_error, overflow_in_reply
from otel_errcompact_context.providers.refusals import make_forms
from otel_errcompact_context.window.window import ContextWindow

SAYS = "Slab 70,000 above shelf 65536"


class SlabError(Exception):
    """As a provider raises it that nobody knows."""

    status_code = 429


FORMS = make_forms(["slab <sent> above shelf <limit>"])


def test_a_form_is_recognised_with_its_numbers() -> None:
    """Whatever the status; in bodies, errors and replies."""
    assert overflow_in_body(SAYS, 429) is None
    for found in (
        overflow_in_body({"error": SAYS}, 429, FORMS),
        overflow_in_error(SlabError(SAYS), FORMS),
        overflow_in_reply({"error": {"message": SAYS}}, FORMS),
    ):
        assert found is not None
        assert (found.provider, found.limit_tokens, found.sent_tokens) == ("unknown", 65_536, 70_000)


def test_a_form_comes_before_what_the_rules_read() -> None:
    """The application knows its provider best."""
    found = overflow_in_body("prompt is too long: 12 tokens > 10 maximum", None, make_forms(["long: <sent> tokens"]))
    assert found is not None
    assert (found.limit_tokens, found.sent_tokens) == (None, 12)


class ContextWindowExceededError(Exception):
    """As LiteLLM raises it."""


def test_a_form_reads_the_numbers_of_an_error_known_by_its_class() -> None:
    """The class says what it is, and the form how much."""
    found = overflow_in_error(ContextWindowExceededError(SAYS), FORMS)
    assert found is not None
    assert found.limit_tokens == 65_536


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
    """Before anything is sent."""
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        ContextWindow(ContextOptions(refusals=(words,)), archive=MemoryArchive())


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
    assert [form.search("out of slab") is not None for form in guard.forms] == [False, True]
