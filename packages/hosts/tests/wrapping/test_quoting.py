"""Words of shells and JSON, read and written by hand."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_hosts.wrapping.quoting import find_script, join_words, read_word, write_json

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.lists(WORDS, min_size=1))
def test_words_come_back_as_they_were(words: list[str]) -> None:
    """A shell splits the line into the words."""
    assert shlex.split(join_words(words)) == words


@given(WORDS)
def test_a_quoted_word_is_read(word: str) -> None:
    """Whichever way it is quoted, and whatever follows."""
    assert read_word(f"{join_words([word])} behind", 0) == word
    assert read_word(f"eval {shlex.quote(word)}<x", 5) == word


@given(st.dictionaries(WORDS, st.text()))
def test_json_is_written_as_the_library_reads_it(values: dict[str, str]) -> None:
    """Every text comes back, but for halves of characters, which no file holds."""
    kept = {name: text.encode(errors="replace").decode() for name, text in values.items()}
    assert json.loads(write_json(values)) == kept


@pytest.mark.parametrize(
    ("words", "script"),
    [
        (["bash", "-c", "make test"], "make test"),
        (["/bin/sh", "-ec", "make test", "name"], "make test"),
        (["bash", "-lc", ""], ""),
        (["bash", "script.sh", "-c"], ""),
        (["bash", "-c"], ""),
        (["python", "-c", "print()"], ""),
        (["bash", "--norc", "-c"], ""),
    ],
)
def test_the_script_of_a_shell_is_the_command(words: list[str], script: str) -> None:
    """What the agent wrote says more than the quoted form of it."""
    assert find_script(words) == script


def test_an_open_quote_ends_with_the_line() -> None:
    """A script of an unknown form is read as far as it goes."""
    assert read_word("'open", 0) == "open"
    assert read_word('"open \\"', 0) == 'open "'
    assert read_word("end\\", 0) == "end"
