"""The documentation site in a real browser, opened from the disk: nothing is loaded from outside, and search finds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from docs.website import ELSEWHERE, ROOT, SITE
from e2e.browser import PATIENCE_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

BUILD: Final = (sys.executable, "-m", "docs.website")
KEYS_REACH_ALL: Final = """[...document.querySelectorAll(".md-typeset__scrollwrap")].every(
    (each) => each.scrollWidth <= each.clientWidth || each.tabIndex >= 0 || each.querySelector("a"))"""
"""A wide table gets its place in the order of keys from a script, some time after the page is there."""

DIAGRAMS: Final = {"architecture.html": 1, "operating.html": 1}


@pytest.fixture(scope="module")
def site(chromium: Browser) -> Browser:
    """Return a browser, when the site was built."""
    done = subprocess.run(BUILD, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return chromium


@pytest.fixture
def page(site: Browser) -> Iterator[tuple[Page, list[str]]]:
    """Return a page, and what it asks of others or complains of."""
    context = site.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    opened, complaints = context.new_page(), list[str]()
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda asked: None if _is_own(asked.url) else complaints.append(asked.url))
    yield opened, complaints
    context.close()


def _is_own(url: str) -> bool:
    return url.startswith((SITE.as_uri(), "data:", "blob:", "about:"))


def test_no_page_loads_anything_from_outside(page: tuple[Page, list[str]]) -> None:
    """Every page opens without an error and without a request beyond the folder of the site."""
    opened, complaints = page
    # The page for what is missing is only ever shown by a server.
    pages = [path for path in sorted(SITE.rglob("*.html")) if path.name != "404.html"]
    assert len(pages) > 40
    for path in pages:
        opened.goto(path.as_uri())
        opened.wait_for_function("document.querySelector('[data-md-component=search-result]')")
    assert complaints == []


@pytest.mark.parametrize("name", DIAGRAMS)
def test_diagrams_are_drawn(page: tuple[Page, list[str]], name: str) -> None:
    """Each diagram of a page becomes a picture."""
    opened, complaints = page
    opened.goto((SITE / name).as_uri())
    opened.wait_for_function(f"document.querySelectorAll('div.mermaid').length == {DIAGRAMS[name]}")
    assert complaints == []


def test_search_finds_a_page(page: tuple[Page, list[str]]) -> None:
    """A word of a page leads to it, without a server."""
    opened, complaints = page
    opened.goto((SITE / "index.html").as_uri())
    opened.get_by_placeholder("Search").first.press_sequentially("trajectory")  # it listens to keys
    first = opened.locator(".md-search-result__link").first
    first.wait_for()
    assert "trajectory.html" in str(first.get_attribute("href"))
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible(site: Browser, scheme: Literal["light", "dark"]) -> None:
    """The checks of axe-core find nothing serious in the text of any page."""
    context = site.new_context(color_scheme=scheme)
    context.set_default_timeout(PATIENCE_MS)
    opened = context.new_page()
    grave = []
    for path in sorted(SITE.rglob("*.html")):
        opened.goto(path.as_uri())
        opened.wait_for_function(KEYS_REACH_ALL)
        results = Axe().run(opened, context="article", options={"runOnly": ["wcag2a", "wcag2aa"]})
        found = [each for each in results.response["violations"] if each["impact"] in {"serious", "critical"}]
        grave += [(path.name, each["id"], [node["html"] for node in each["nodes"]][:5]) for each in found]
    context.close()
    assert grave == []


@pytest.mark.parametrize(
    "broken", ["no-such-page.md", "operating.md#no-such-anchor", "no-such-picture.png", "../no-such-file.py"]
)
def test_the_build_refuses_a_broken_link(tmp_path_factory: pytest.TempPathFactory, broken: str) -> None:
    """A page, an anchor, a picture or a file of the repository that does not exist."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("docs", "mkdocs.yml", *ELSEWHERE):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        elif (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    with (folder / "docs" / "index.md").open("a", encoding="utf-8") as index:
        index.write(f"\n![a]({broken})\n" if broken.endswith(".png") else f"\n[a]({broken})\n")
    done = subprocess.run(BUILD, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert broken in done.stdout + done.stderr
