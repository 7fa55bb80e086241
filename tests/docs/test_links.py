"""Every link leads somewhere: files and anchors are looked up, addresses outside are only well-formed."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.docs.pages import LINKED, ROOT, anchors, links

pytestmark = pytest.mark.meta

OUTSIDE = {
    f"{page}: {link}": link
    for page, path in LINKED.items()
    for link in links(path.read_text(encoding="utf-8"))
    if "://" in link
}


@pytest.mark.parametrize("page", LINKED)
def test_links_lead_to_files_and_anchors(page: str) -> None:
    """A relative link names a file or folder of the repository, and an anchor that its page has."""
    path, broken = LINKED[page], list[str]()
    for link in links(path.read_text(encoding="utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        is_known = target.exists() and target.is_relative_to(ROOT) and not link.startswith("/")
        if not is_known or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert broken == []


def test_addresses_outside_are_well_formed() -> None:
    """None is fetched: a scheme, a host with a dot or this machine, no blank; and few are plain HTTP."""
    parts = {place: urlsplit(link) for place, link in OUTSIDE.items()}
    wrong = [
        place
        for place, part in parts.items()
        if part.scheme not in {"http", "https"} or not ("." in part.netloc or part.hostname == "localhost")
    ]
    assert wrong == []
    plain = {part.netloc for part in parts.values() if part.scheme == "http"}
    assert {name for name in plain if not name.startswith(("localhost", "127.0.0.1"))} == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a](b.md#c) `[x](y)` <https://d.org>", ["b.md#c", "https://d.org"]),
        ("```text\n[a](b)\n```\n![p](q.png)", ["q.png"]),
        ('<img src="a.svg"> <!-- [a](b) -->', ["a.svg"]),
    ],
)
def test_links_are_found(text: str, found: list[str]) -> None:
    """In the text and in HTML, not in code and not in comments."""
    assert links(text) == found


def test_anchors_are_those_of_headings() -> None:
    """Words in small letters with hyphens; a second heading of one name has a number."""
    assert anchors("# A `b_c`, d!\n\n## Run\n\n## Run\n") == {"a-b_c-d", "run", "run-1"}
