"""Pages of recorded runs, and how a browser opens them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otel_errcompact.config import Options
from otel_errcompact_lab.html_report import Collector, compare, play, write_page
from otel_errcompact_lab.transcripts import read_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page, Request

    from otel_errcompact_lab.html_report.collector import PageData


class Opened:
    """
    A page in the browser, and all that it said and asked for.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.said: list[str] = []
        self.requests: list[Request] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        # Playwright marks what it calls, which a built-in method does not let it.
        page.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108
        page.goto(url)
        self.url = url

    def rows(self) -> list[str]:
        """Return the causes of the classes that are shown, from above."""
        return [cell.inner_text() for cell in self.page.locator("#class-table tbody:visible td.error .cause").all()]

    def exact(self, words: str) -> str:
        """Return the first raw error of a class, with the characters that the page shows as marks."""
        source = self.page.locator("#class-table tbody", has_text=words).locator(".raw .exact").first
        # As numbers: on the way here half of a character would become another one.
        text = source.evaluate(
            "element => exact(element).replace(/\\p{Surrogate}/gu, half => `<${half.charCodeAt()}>`)"
        )
        return str(text).replace(f"<{0xD800}>", "\ud800")


def messages(results: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a chat in which one tool gave these results."""
    yield {"role": "user", "content": "How many rows?"}
    for number, result in enumerate(results):
        function = {"name": "db.query", "arguments": '{"q": 1}'}
        yield {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]}
        yield {"role": "tool", "tool_call_id": f"c{number}", "content": result}


def page_of(file: Path, baseline: Path | None = None) -> Path:
    """Write the page of a record beside it, compared if there is a baseline."""
    data = _gather(file)
    page = file.with_name("report.html")
    write_page(data, page, compare(_gather(baseline), data) if baseline is not None else None)
    return page


def _gather(file: Path) -> PageData:
    collector = Collector()
    play(read_files([file], on_problem=_refuse), collector, options=Options())
    return collector.page()


def _refuse(problem: Exception) -> None:
    raise problem
