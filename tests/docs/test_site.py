"""Every page of the site says something, and the navigation leads to it once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from docs.website import sources
from tests.docs.pages import LINKED, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.meta

LEAST_WORDS = 20
PAGES = {page for page in sources() if page.endswith(".md")}


class _Loader(yaml.SafeLoader):
    """Reads the settings without the Python objects that they name."""


_LOADER_TAGS = "tag:yaml.org,2002:python/"
_Loader.add_multi_constructor(_LOADER_TAGS, lambda loader, suffix, node: None)


def leaves(entries: list[Any]) -> Iterator[str]:
    """Yield the pages of a navigation, without its titles and the addresses outside."""
    for entry in entries:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(target, list):
            yield from leaves(target)
        elif "://" not in target:
            yield target


def faults(pages: set[str], navigation: list[Any]) -> list[str]:
    """Return the pages that no navigation leads to, those it has twice, and those that do not exist."""
    found = Counter(leaves(navigation))
    lost = [f"{page}: in no navigation" for page in sorted(pages - set(found))]
    unknown = [f"{page}: no such page" for page in sorted(set(found) - pages)]
    return lost + unknown + [f"{page}: {count} times" for page, count in found.items() if count > 1]


def is_empty(text: str) -> bool:
    """Tell whether a page has hardly a word but its headings."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return len(" ".join(lines).split()) < LEAST_WORDS


@pytest.mark.parametrize("page", LINKED)
def test_no_page_is_empty(page: str) -> None:
    """A page with a title alone is a promise that a reader clicks on."""
    assert not is_empty(LINKED[page].read_text(encoding="utf-8"))


def test_the_navigation_leads_to_every_page_once() -> None:
    """Pages outside of `docs/` that the site shows, too."""
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)
    assert faults(PAGES, settings["nav"]) == []


@pytest.mark.parametrize(
    ("navigation", "found"),
    [
        ([{"Home": "a.md"}, {"More": [{"B": "b.md"}, {"Code": "https://x.org"}]}], []),
        ([{"Home": "a.md"}], ["b.md: in no navigation"]),
        (["a.md", "b.md", {"C": "c.md"}], ["c.md: no such page"]),
        (["a.md", {"More": ["b.md", "a.md"]}], ["a.md: 2 times"]),
    ],
)
def test_faults_of_a_navigation_are_found(navigation: list[Any], found: list[str]) -> None:
    """Pages without an entry, entries without a page, and pages with two."""
    assert faults({"a.md", "b.md"}, navigation) == found


@pytest.mark.parametrize("text", ["", "# Title\n", "# Title\n\n## Part\n\nSoon.\n"])
def test_empty_pages_are_found(text: str) -> None:
    """Nothing, a title, or titles and a word."""
    assert is_empty(text)
