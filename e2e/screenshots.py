"""Photograph the report page of four demo runs for the pages that show it: `python -m e2e.screenshots`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

from e2e.browser import browser, flags

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

PICTURES: Final = Path(__file__).parents[1] / "docs" / "pictures"
SIZE: Final[ViewportSize] = {"width": 1150, "height": 800}
HEIGHT: Final = 560


def main() -> int:
    """Write both pictures, and return the exit code."""
    with TemporaryDirectory() as folder, sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=browser(), args=flags())
        page = chromium.new_page(viewport=SIZE, color_scheme="light")
        page.goto(write_report(Path(folder)).as_uri())
        page.locator("#runs details > summary").first.click()
        page.evaluate("scrollTo(0, 0)")
        photograph(page, "#classes", "report.png", first=True)
        photograph(page, "#runs details[open]", "run.png", first=False)
    return 0


def photograph(page: Page, part: str, name: str, *, first: bool) -> None:
    """Photograph the first or last pixels of a part of the page."""
    box = page.locator(part).first.bounding_box()
    assert box is not None
    y = box["y"] if first else box["y"] + box["height"] - HEIGHT
    page.screenshot(path=PICTURES / name, full_page=True, clip={**box, "y": y, "height": HEIGHT})


def write_report(folder: Path) -> Path:
    """Play the demo and write its report page."""
    for words in ("demo --plain --repeat 4 --trajectory errors.jsonl", "report errors.jsonl -o report.html"):
        command = [sys.executable, "-m", "otel_errcompact", *words.split()]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "report.html"


if __name__ == "__main__":
    sys.exit(main())
