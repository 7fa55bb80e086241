"""Words that made new readers stumble stand on no page."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.docs.pages import LINKED, PAGES, prose

pytestmark = pytest.mark.meta

READ: Final = {
    name: path
    for name, path in LINKED.items()
    if name in PAGES | dict.fromkeys(("README.md", "SECURITY.md", "CONTRIBUTING.md", "dashboards/RUNBOOK.md"))
}
"""What people read: the pages of the site, and those in the folder where the repository opens."""

REFUSED: Final = {
    "anew": r"anew",
    "as said": r"as said",
    "besides": r"besides",
    "for ever": r"for ever",
    "goes on": r"go(?:es)? on(?! with it \|)",
    "mend": r"mend(?:s|ed|ing)?",
    "nobody": r"nobody",
    "take note": r"take note",
    "tell of": r"tells? of",
    # Of people it is plain English: "why you were told".
    "told": r"(?<!you were )told",
    "tonnage": r"tonnage",
    "who": r"who(?:ever|soever)",
    "duty as a noun": r"(?:Render|Gate|Ask|Span)(?=\*\*)",
}
"""Words by the rules of language; "goes on" with its words in the matrix that the tests of integrations make."""


def find_refused(text: str) -> list[str]:
    """Return each refused word of a page, with the words around it; code is no prose."""
    plain = " ".join(re.sub(r"`[^`\n]*`", "``", prose(text)).split())
    pattern = "|".join(rf"(?<![\w-]){word}(?![\w-])" for word in REFUSED.values())
    found = re.finditer(pattern, plain, re.IGNORECASE)
    return [plain[max(0, each.start() - 30) : each.end() + 20] for each in found]


@pytest.mark.parametrize("page", READ)
def test_no_page_has_a_refused_word(page: str) -> None:
    """Plain English of today, for readers in a second language: say the thing, and who does it."""
    assert find_refused(READ[page].read_text(encoding="utf-8")) == []


def test_the_documentation_can_be_taken_in() -> None:
    """In two hours, tables and code included; decisions are read one at a time."""
    pages = [path for name, path in READ.items() if not name.startswith(("docs/decisions/", "dash", "SEC"))]
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in pages) <= 30_000


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("The digest is made anew.", 1),
        ("Mend the cause; besides, nobody asks.", 3),
        ("The run goes\non for ever.", 2),
        ("Whoever asks is told of it.", 2),
        ("- **Render**: the digest.", 1),
        ("It tells of a failure. Tonnage: 4.", 2),
        ("We recommend it; an amended page stands beside it. Why you were told.", 0),
        ("`besides` is code.\n\n```python\nmend = 'anew'\n```\n", 0),
    ],
)
def test_refused_words_are_found(sentence: str, count: int) -> None:
    """In any case and form, not inside other words and not in code."""
    assert len(find_refused(sentence)) == count
