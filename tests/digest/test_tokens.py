"""Tokens: two estimators, and the real tokenizer where it is installed."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.digest import tokens
from otel_errcompact.digest.tokens import (
    PIECE,
    default_counter,
    estimate_mixed_tokens,
    estimate_tokens,
)


class Tokenizer:
    """
    What this library uses of tiktoken, with a token for each word: the real one has no encoding without a network.
    """

    def __init__(self, problem: Exception | None = None, seconds: float = 0) -> None:
        self.problem = problem
        self.seconds = seconds
        self.encoded: list[str] = []

    def get_encoding(self, name: str) -> SimpleNamespace:
        time.sleep(self.seconds)
        if self.problem is not None:
            raise self.problem
        return SimpleNamespace(encode_ordinary=self.encode)

    def encode(self, text: str) -> list[int]:
        self.encoded.append(text)
        return [0] * len(text.split())


@pytest.fixture
def tokenizer(monkeypatch: pytest.MonkeyPatch) -> Tokenizer:
    """A tokenizer in the place of tiktoken."""
    return installed(monkeypatch, Tokenizer())


def installed(monkeypatch: pytest.MonkeyPatch, tokenizer: Tokenizer | None) -> Tokenizer:
    """Put a tokenizer in the place of tiktoken, or make it one that is not installed."""
    monkeypatch.setitem(sys.modules, "tiktoken", tokenizer)
    default_counter.cache_clear()
    return tokenizer or Tokenizer()


@pytest.fixture(autouse=True)
def forget() -> None:
    """No test is given the counter of another one."""
    default_counter.cache_clear()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("a", 1, id="rounded up"),
        pytest.param("connection refused by the server", 7, id="prose: letters that are common in words"),
        pytest.param("QmFzZTY0IGlz", 11, id="base64: letters that are not"),
        pytest.param("0123456789", 7, id="digits"),
        pytest.param("/src/app.py:42", 5, id="a path"),
        pytest.param("连接被拒绝", 5, id="Chinese"),
        pytest.param("\U0001f680\U0001f680", 6, id="emoji"),
        pytest.param("é", 1, id="Latin with an accent"),
        pytest.param("\ud800", 1, id="a lone surrogate"),
        pytest.param("ab" * 600, 780, id="more than a block"),
    ],
)
def test_a_text_is_estimated_by_what_its_bytes_cost(text: str, tokens: int) -> None:
    """Common letters and spaces are cheap, all else is not."""
    assert estimate_mixed_tokens(text) == tokens


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        pytest.param("", 1, id="none: o200k_base"),
        pytest.param("openai/gpt-4o", 1, id="gpt-4o: o200k_base"),
        pytest.param("gpt-4.1", 1, id="gpt-4.1: o200k_base"),
        pytest.param("gpt-4", 3, id="gpt-4: cl100k_base"),
        pytest.param("openrouter/openai/gpt-4-turbo", 3, id="gpt-4-turbo: cl100k_base"),
        pytest.param("gpt-3.5-turbo", 3, id="gpt-3.5: cl100k_base"),
        pytest.param("openai:gpt-4", 3, id="behind a colon"),
        pytest.param("ft:gpt-3.5-turbo:acme::8ab1", 3, id="fine-tuned"),
        pytest.param("azure/gpt-35-turbo", 3, id="as Azure spells it"),
        pytest.param("azure/EU-GPT-4-Turbo", 3, id="a deployment's name"),
        pytest.param("ft:gpt-4o-mini:acme::8ab1", 1, id="fine-tuned: o200k_base"),
        pytest.param("azure/gpt-4-1-mini", 1, id="gpt-4.1 as Azure's deployments spell it"),
        pytest.param("anthropic.claude-sonnet-4-5", 5, id="Claude"),
        pytest.param("anthropic:claude-opus-4-5", 5, id="Claude behind a colon"),
    ],
)
def test_a_text_is_estimated_as_the_model_counts(monkeypatch: pytest.MonkeyPatch, model: str, tokens: int) -> None:
    """Tokenizers differ most beyond Latin: these are three letters of Thai."""
    installed(monkeypatch, None)
    assert default_counter(model)("ไทย") == tokens


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        pytest.param("gpt-5", "o200k_base", id="o200k_base"),
        pytest.param("gpt-4", "cl100k_base", id="cl100k_base"),
        pytest.param("claude-opus-4-5", None, id="none: it has no tokenizer for Claude"),
    ],
)
def test_the_tokenizer_counts_in_the_encoding_of_the_model(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch, model: str, encoding: str | None
) -> None:
    """Another model's tokens would be no truth."""
    loaded: list[str] = []
    monkeypatch.setattr(
        tokenizer, "get_encoding", lambda name: loaded.append(name) or SimpleNamespace(encode_ordinary=tokenizer.encode)
    )
    default_counter(model)("one two")
    assert (loaded, tokenizer.encoded) == (([encoding], ["one two"]) if encoding else ([], []))


def test_the_dearest_bytes_of_a_long_text_are_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of them stays below the modulus of the sum."""
    installed(monkeypatch, None)
    assert default_counter("claude-opus-4-5")("ệ" * 1_000) == 3_050


@given(st.text(), st.text())
def test_a_part_never_costs_more_than_the_whole(left: str, right: str) -> None:
    """Cutting a text never makes its estimate grow."""
    assert estimate_mixed_tokens(left) <= estimate_mixed_tokens(left + right)
    assert estimate_mixed_tokens(right) <= estimate_mixed_tokens(left + right)


def test_the_estimate_that_digests_are_measured_by_is_a_quarter_of_the_characters() -> None:
    """Numbers that were recorded before must mean the same later."""
    assert [estimate_tokens("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_tokens_are_counted_by_the_tokenizer(tokenizer: Tokenizer) -> None:
    """What the tokenizer says is what is returned."""
    assert default_counter()("one two three") == 3


def test_an_equal_text_is_counted_once(tokenizer: Tokenizer) -> None:
    """A message list is counted anew each turn, and nearly all of it is as it was."""
    count = default_counter()
    assert (count("one two"), count("one " + "two"), count("three")) == (2, 2, 1)
    assert tokenizer.encoded == ["one two", "three"]


def test_what_is_remembered_is_bounded(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text that was counted longest ago is forgotten first."""
    monkeypatch.setattr(tokens, "MAX_REMEMBERED", 2)
    count = default_counter()
    for text in ("a", "b", "c", "b", "a"):
        count(text)
    assert tokenizer.encoded == ["a", "b", "c", "a"]


def test_a_huge_text_is_encoded_in_pieces(tokenizer: Tokenizer) -> None:
    """The tokenizer's parser overflows its stack on a million spaces, which ends the process's thread in a panic."""
    default_counter()(" " * 1_000_000)
    assert max(map(len, tokenizer.encoded)) == PIECE
    assert sum(map(len, tokenizer.encoded)) == 1_000_000


def test_a_text_that_is_no_unicode_is_counted(tokenizer: Tokenizer) -> None:
    """Lone surrogates come of file names and of output in other encodings."""
    assert default_counter()("a \ud800") == 2


def test_an_encoding_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokenizer fetches its encoding without a limit of time; the application starts all the same."""
    monkeypatch.setattr(tokens, "LOAD_SECONDS", 0.05)
    installed(monkeypatch, Tokenizer(seconds=0.5))
    assert default_counter() is estimate_mixed_tokens


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(None, None, id="not installed"),
        pytest.param(Tokenizer(OSError("no route to host")), None, id="not loadable"),
        pytest.param(Tokenizer(), 2, id="installed"),
    ],
)
def test_the_best_counter_there_is_is_chosen_in_silence(
    monkeypatch: pytest.MonkeyPatch, found: Tokenizer | None, words: int | None
) -> None:
    """Who names no counter gets the tokenizer's where there is one, once for all, and else the estimator's."""
    installed(monkeypatch, found)
    count = default_counter()
    assert default_counter() is count
    assert count("connection refused by") == (estimate_mixed_tokens("connection refused by") if words is None else 3)


def test_the_real_tokenizer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real encoding of tiktoken, small enough to be made here, is counted with."""
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"\S+|\s+", mergeable_ranks={bytes([byte]): byte for byte in range(256)}, special_tokens={}
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)
    default_counter.cache_clear()
    count = default_counter()
    assert [count("abc"), count("é"), count("<|endoftext|>"), count("\ud800")] == [3, 2, 13, 3]
    assert count(" " * 1_000_000) == 1_000_000
