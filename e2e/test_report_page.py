"""The report's page in a real browser: what people see, click and type, and that nothing leaves the file."""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
from typing import TYPE_CHECKING, Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe

import otel_errcompact
from e2e.browser import PATIENCE_MS
from e2e.report_page import Opened, messages, page_of
from otel_errcompact.audit.trajectory import TrajectoryFile
from otel_errcompact.config import Options, TrajectoryOptions
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.escalator.actions import Continue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    Open = Callable[..., Opened]

HOSTILE: Final = (
    "Error: hostile </pre></script><script>document.title = 'taken over'</script><img src=x onerror=alert(1)>\r\n"
    "\u202egnp.exe\u202c \x1b[31mred\x1b[0m \x00\x00 lone \ud800 &amp; שגיאה\rend\n"
)
"""Markup, CRLF, text turned around, escape sequences, NUL, half of a character, a carriage return."""

REFUSED: Final = "cannot write to 10.0.0.7:5432"
NO_TABLE: Final = "no such table: orders"
NIGHTLY: Final = "select * from orders\nwhere id in (1, 2)"
HOSTILE_LINE: Final = (
    "hostile </pre></script><script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"
)

HUGE: Final = "HugeError: " + "0123456789abcdef" * 640_000
"""10 MB."""

TRACEBACK: Final = """\
Traceback (most recent call last):
  File "/srv/shop/orders.py", line 12, in load
    return rows["id"]
KeyError: 'id'
"""


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Open]:
    """Opens a page in a browser that remembers nothing."""
    contexts = []

    def open_it(where: Path | str, **settings: Any) -> Opened:
        context = chromium.new_context(**settings)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        return Opened(context.new_page(), where if isinstance(where, str) else where.as_uri())

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of recorded runs: one class that escalated in a streak, one that recovered, one hostile."""
    folder = tmp_path_factory.mktemp("recorded")
    runs = {
        "refused": [f"Error: {REFUSED}"] * 4,
        "recovered": [f"Error: {NO_TABLE}", "3 rows"],
        "hostile</script>": [HOSTILE],
    }
    lines = [json.dumps({"task_id": name, "traj": list(messages(results))}) for name, results in runs.items()]
    transcript = folder / "runs.jsonl"
    transcript.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return page_of(transcript)


@pytest.fixture(scope="session")
def trajectory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a trajectory file, with the hostile text."""
    return _page_of_trajectory(tmp_path_factory.mktemp("trajectory"), TRACEBACK, TRACEBACK, HOSTILE)


@pytest.fixture(scope="session")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a trajectory file with the huge text."""
    return _page_of_trajectory(tmp_path_factory.mktemp("huge"), HUGE)


def _page_of_trajectory(folder: Path, *texts: str) -> Path:
    path = folder / "trajectory.jsonl"
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=path))
    ledger.listeners.add(file)
    with otel_errcompact.run("run-1", ledger=ledger, on_escalation=lambda _: Continue("go on")) as run:
        for text in texts:
            run.fail(text, tool="bash")
    file.close()
    return page_of(path)


def test_a_page_says_nothing_and_asks_for_nothing(open_page: Open, recorded: Path, trajectory: Path) -> None:
    """No error in the console, no request but for the file itself, and no script of a raw error has run."""
    for path in (recorded, trajectory):
        opened = open_page(path)
        opened.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        opened.page.mouse.wheel(0, 20_000)
        assert opened.said == []
        assert [request.url for request in opened.requests if not request.url.startswith("data:")] == [opened.url]
        assert opened.page.title().startswith("errcompact report: ")


def test_nothing_is_asked_of_a_server_either(open_page: Open, recorded: Path) -> None:
    """Served, the page is one request."""
    asked: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, code: object = "-", size: object = "-") -> None:
            asked.append(self.path)

    handler = functools.partial(Handler, directory=str(recorded.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opened = open_page(f"http://127.0.0.1:{server.server_port}/report.html")
        opened.page.wait_for_timeout(300)
        server.shutdown()
    assert asked == ["/report.html"]
    assert opened.said == []


def test_the_policy_stops_what_gets_in_all_the_same(open_page: Open, recorded: Path) -> None:
    """Were there a way to put markup into the page, it would neither run nor load."""
    opened = open_page(recorded)
    opened.page.evaluate(
        """() => {
            const image = "<img src='https://example.invalid/x.png' onerror='window.ran = 1'>";
            document.body.insertAdjacentHTML("beforeend", image);
            const script = document.createElement("script");
            script.textContent = "window.ran = 1";
            document.body.append(script);
        }"""
    )
    opened.page.wait_for_timeout(200)
    assert opened.page.evaluate("window.ran ?? 'never'") == "never"
    assert [request.failure for request in opened.requests if "example" in request.url] == ["csp"]


def test_a_click_shows_the_raw_error_whole(open_page: Open, trajectory: Path) -> None:
    """To the character."""
    opened = open_page(trajectory)
    row = opened.page.locator("#class-table tbody", has_text="KeyError")
    text = row.locator(".raw pre")
    assert not text.is_visible()
    row.locator("summary").click()
    assert text.is_visible()
    assert text.text_content() == TRACEBACK


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_shows_it_too(open_page: Open, trajectory: Path, key: str) -> None:
    """And what has the focus is seen."""
    opened = open_page(trajectory)
    summary = opened.page.locator("#class-table tbody", has_text="KeyError").locator("summary")
    summary.focus()
    opened.page.keyboard.press(key)
    assert opened.page.locator("#class-table tbody", has_text="KeyError").locator(".raw pre").is_visible()
    opened.page.keyboard.press("Tab")
    focused = "getComputedStyle(document.activeElement).outlineStyle"
    assert opened.page.evaluate(focused) == "solid"


def test_the_first_tab_leads_past_the_head(open_page: Open, recorded: Path) -> None:
    """The skip link comes first, is seen when it has the focus, and leads to the classes."""
    opened = open_page(recorded)
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the error classes"
    assert opened.page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.id") == "classes"


def test_hostile_texts_are_data(open_page: Open, trajectory: Path) -> None:
    """What a page cannot hold or what deceives is seen as a mark, and the copy has the very characters."""
    opened = open_page(trajectory)
    assert ascii(opened.exact("gnp.exe")) == ascii(HOSTILE)
    shown = (
        opened.page.locator("#class-table tbody", has_text="gnp.exe").locator(".raw .exact").first.text_content() or ""
    )
    assert r"\u202egnp.exe\u202c \x1b[31mred\x1b[0m \x00 x2 lone \ud800 &amp;" in shown


def test_a_huge_error_is_there_whole(open_page: Open, huge: Path) -> None:
    """10 MB in one line, behind one click."""
    opened = open_page(huge)
    opened.page.locator("#class-table summary").click()
    assert opened.exact("HugeError") == HUGE


def test_the_copy_button_copies_the_very_characters(open_page: Open, trajectory: Path) -> None:
    """Into the clipboard, and says so."""
    opened = open_page(trajectory, permissions=["clipboard-read", "clipboard-write"])
    row = opened.page.locator("#class-table tbody", has_text="KeyError")
    row.locator("summary").click()
    row.locator(".raw .copy").click()
    opened.page.get_by_role("button", name="Copied").wait_for()
    assert opened.page.evaluate("navigator.clipboard.readText()") == TRACEBACK


def test_sorting_by_click_and_by_key(open_page: Open, recorded: Path) -> None:
    """Each head sorts one way, then the other, and says which to those who do not see the arrow."""
    opened = open_page(recorded)
    assert opened.rows() == [REFUSED, NO_TABLE, HOSTILE_LINE]
    head = opened.page.locator("#class-table").get_by_role("columnheader", name="Error")
    head.get_by_role("button").click()
    assert (opened.rows(), head.get_attribute("aria-sort")) == (
        [REFUSED, HOSTILE_LINE, NO_TABLE],
        "ascending",
    )
    opened.page.keyboard.press("Enter")
    assert (opened.rows(), head.get_attribute("aria-sort")) == (
        [NO_TABLE, HOSTILE_LINE, REFUSED],
        "descending",
    )
    opened.page.get_by_role("columnheader", name="Count").get_by_role("button").click()
    assert opened.rows()[0] == REFUSED
    assert head.get_attribute("aria-sort") is None


def test_filtering_by_text_and_status(open_page: Open, recorded: Path) -> None:
    """Every word must fit, also in what is not open; how many are left is told."""
    opened = open_page(recorded)
    field = opened.page.get_by_role("searchbox")
    field.fill("table db.query")
    assert (opened.rows(), opened.page.locator("#shown").inner_text()) == ([NO_TABLE], "1 of 3")
    field.fill("nowhere")
    assert opened.page.get_by_text("No class matches.").is_visible()
    opened.page.get_by_role("button", name="Show all").click()
    assert len(opened.rows()) == 3
    opened.page.get_by_label("status").select_option("escalated")
    assert opened.rows() == [REFUSED]


def test_an_escalation_leads_to_its_class(open_page: Open, recorded: Path) -> None:
    """Although a filter hides it; and what there is to read is open."""
    opened = open_page(recorded)
    opened.page.get_by_role("searchbox").fill("table")
    opened.page.locator("#escalations a").first.click()
    assert opened.page.locator("#class-table tbody", has_text="cannot write to").locator(".raw pre").first.is_visible()
    assert opened.page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_dark_and_light(open_page: Open, recorded: Path) -> None:
    """As the system has it, until one is chosen; and the choice is kept."""
    colours = {"light": "rgb(246, 246, 243)", "dark": "rgb(18, 20, 24)"}
    light, dark = (open_page(recorded, color_scheme=scheme) for scheme in colours)

    def wait_for(opened: Opened, scheme: str) -> None:
        # A busy browser paints, and keeps what was chosen, after the call has returned.
        opened.page.wait_for_function(f"getComputedStyle(document.body).backgroundColor == '{colours[scheme]}'")

    wait_for(light, "light")
    wait_for(dark, "dark")
    button = light.page.get_by_role("button", name="Colours")
    button.click()
    button.click()
    wait_for(light, "dark")
    assert button.inner_text() == "Colours: dark"
    light.page.reload()
    wait_for(light, "dark")
    dark.page.get_by_role("button", name="Colours").click()
    wait_for(dark, "light")


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of ten runs beside a baseline: a class each that is new, more, gone, less, and one new by chance."""
    folder = tmp_path_factory.mktemp("compared")
    records = {
        "baseline": [["Error: gone"], ["Error: more", "Error: less"]] * 2 + [["Error: less"]] * 8,
        "here": [["Error: new", "Error: more"]] * 9 + [["Error: new", "Error: more", "Error: less", "Error: seldom"]],
    }
    for name, runs in records.items():
        lines = [{"task_id": f"{name}-{number}", "traj": [*messages(run)]} for number, run in enumerate(runs)]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return page_of(folder / "here.jsonl", folder / "baseline.jsonl")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1600, 1280, 400])
@pytest.mark.parametrize("name", ["recorded", "trajectory", "live", "compared"])
def test_everybody_can_use_it(
    open_page: Open, request: pytest.FixtureRequest, name: str, scheme: str, width: int
) -> None:
    """axe-core finds nothing: contrast, names, roles, focus, order; everything open."""
    opened = open_page(request.getfixturevalue(name), color_scheme=scheme, viewport={"width": width, "height": 900})
    opened.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    violations = Axe().run(opened.page).response["violations"]
    assert [(found["id"], [node["html"][:200] for node in found["nodes"]]) for found in violations] == []


@pytest.mark.parametrize("width", [320, 390, 768, 961, 1280, 1600])
def test_no_window_is_too_narrow(
    open_page: Open, recorded: Path, trajectory: Path, live: Path, compared: Path, width: int
) -> None:
    """The page never scrolls to the side, whatever is open."""
    for path in (recorded, trajectory, live, compared):
        opened = open_page(path, viewport={"width": width, "height": 800})
        opened.page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width


def test_it_can_be_read_without_javascript(open_page: Open, recorded: Path) -> None:
    """Every number and every raw error; what would need a script is not there."""
    opened = open_page(recorded, java_script_enabled=False)
    row = opened.page.locator("#class-table tbody", has_text="no such table")
    row.locator("summary").click()
    assert row.locator(".raw pre").inner_text() == f"Error: {NO_TABLE}"
    assert opened.page.get_by_role("heading", name="6 failures in 3 classes").is_visible()
    assert opened.page.locator("button:visible").count() == 0
    assert opened.page.get_by_role("searchbox").count() == 0


def test_on_paper_it_is_black_on_white(open_page: Open, recorded: Path) -> None:
    """Also of a dark screen; and without what can only be clicked."""
    opened = open_page(recorded, color_scheme="dark")
    opened.page.emulate_media(media="print", color_scheme="dark")
    assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.page.locator("button:visible:not(.head)").count() == 0


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a live run: failures, a refusal, an escalation with its answer, a resolution, successes."""
    path = tmp_path_factory.mktemp("live") / "trajectory.jsonl"
    ledger = Ledger(Options())
    file = TrajectoryFile(TrajectoryOptions(path=path))
    ledger.listeners.add(file)
    with otel_errcompact.run(
        "nightly", ledger=ledger, agent="shop", on_escalation=lambda _: Continue("ask db2")
    ) as run:
        for query, fails in [(NIGHTLY, True)] * 4 + [(NIGHTLY, False)] + [("select 1", False)] * 40:
            with run.tool("query", arguments={"sql": query, "limit": 10}) as call:
                if call.refused:
                    continue
                if fails:
                    raise LookupError(NO_TABLE)
                call.result = "3 rows"
    file.close()
    return page_of(path)


def test_a_time_line_has_a_live_run_in_order(open_page: Open, live: Path) -> None:
    """What failed, was refused, was asked and answered, was resolved; successes folded, and how many is said."""
    steps = open_page(live).page.locator("#r-1 .line > li")
    told = [" ".join(text.split()) for text in steps.all_inner_texts()]
    told = [re.sub(r"\d\d:\d\d:\d\d ", "", text) for text in told]
    shown = "query sql=select * from orders where id in (1, 2), limit=10"
    error = f"LookupError {NO_TABLE}"
    refused = (
        "· query refused identical to call 1 not executed: the identical call had failed 2 times "
        f"and nothing had succeeded since; {error}"
    )
    loop = (
        "loop 4 of 4 identical calls that failed or were refused while nothing succeeded answered: the run continues "
        "ask db2"
    )
    assert told[1:] == [
        f"1 {shown} failed {error} Raw error and arguments of call 1",
        f"2 {shown} failed 2 without success {error} Raw error and arguments of call 2",
        refused,
        f"{refused} {loop}",
        f"3 query orders resolved {error}",
        "4 40 calls succeeded: query \N{MULTIPLICATION SIGN}40",
        "■ end of the record; result: recovered",
    ]


def test_a_click_in_the_time_line_shows_the_raw_error_and_pretty_arguments(open_page: Open, live: Path) -> None:
    """Whole, and an SQL statement of two lines as two lines."""
    opened = open_page(live)
    step = opened.page.locator("#r-1-1")
    assert not step.locator("pre").first.is_visible()
    step.locator("summary").click()
    step.locator(".elsewhere").wait_for(state="detached")
    assert (step.locator(".raw pre").text_content() or "").endswith(f"LookupError: {NO_TABLE}\n")
    assert step.locator("dl.arguments pre").text_content() == NIGHTLY
    assert step.locator("dl.arguments .short").inner_text().split() == ["limit", "10"]


def test_a_run_leads_to_its_class_and_back(open_page: Open, recorded: Path) -> None:
    """From a step to the class, and from the raw error of the class to the step, with all that hides it opened."""
    opened = open_page(recorded)
    run = opened.page.locator("#run-table tbody", has_text="refused").first
    run.locator("summary").first.click()
    run.locator("a.class").first.click()
    row = opened.page.locator("#class-table tbody", has_text=REFUSED)
    assert row.locator(".raw pre").first.is_visible()
    run.locator("summary").first.click()
    assert not run.locator(".line").is_visible()
    row.locator(".raw header a").first.click()
    step = opened.page.locator("#r-1-1")
    assert step.is_visible()
    step.locator(".elsewhere").wait_for(state="detached")
    assert step.locator(".raw pre").inner_text() == f"Error: {REFUSED}"


def test_a_run_and_its_class_are_linked_without_javascript(open_page: Open, recorded: Path) -> None:
    """The browser opens what a link leads to by itself."""
    opened = open_page(recorded, java_script_enabled=False)
    row = opened.page.locator("#class-table tbody", has_text=REFUSED)
    row.locator("summary").click()
    row.locator(".raw header a").first.click()
    assert opened.page.locator("#r-1-1").is_visible()


def test_runs_are_sorted_by_click(open_page: Open, recorded: Path) -> None:
    """The most failures first, until a head is clicked."""
    opened = open_page(recorded)
    names = opened.page.locator("#run-table td.run bdi.mono")
    assert names.all_inner_texts() == ["refused", "recovered", "hostile</script>"]
    opened.page.locator("#run-table").get_by_role("button", name="Run").click()
    assert names.all_inner_texts() == ["hostile</script>", "recovered", "refused"]


def test_of_many_runs_ten_are_shown_until_all_are_asked_for(open_page: Open, tmp_path: Path) -> None:
    """A link to a run shows it; without a script, and on paper, all of them are there."""
    runs = [{"task_id": f"run-{number}", "traj": [*messages(["Error: refused"])]} for number in range(12)]
    transcript = tmp_path / "runs.jsonl"
    transcript.write_text("".join(f"{json.dumps(run)}\n" for run in runs), encoding="utf-8")
    page = page_of(transcript)
    opened = open_page(page)
    shown = opened.page.locator("#run-table tbody:visible")
    assert shown.count() == 10
    opened.page.get_by_role("button", name="Show all 12 runs").click()
    assert (shown.count(), opened.page.get_by_role("button", name="Show all").count()) == (12, 0)
    assert opened.page.evaluate("document.activeElement.closest('tbody').id") == "r-11"
    linked = open_page(f"{page.as_uri()}#r-12")
    assert linked.page.locator("#r-12").is_visible()
    bare = open_page(page, java_script_enabled=False)
    assert bare.page.locator("#run-table tbody:visible").count() == 12
    printed = open_page(page).page
    printed.emulate_media(media="print")
    assert printed.locator("#run-table tbody:visible").count() == 12


def test_a_long_raw_error_opens_whole_in_the_time_line(open_page: Open, huge: Path) -> None:
    """It stands once in the file; the step that is opened gets it from the row of its class."""
    opened = open_page(huge)
    opened.page.locator("#r-1-1 summary").click()
    opened.page.locator("#r-1-1 .elsewhere").wait_for(state="detached")
    assert opened.page.locator("#r-1-1 .exact").evaluate("element => exact(element)") == HUGE
    assert huge.stat().st_size < len(HUGE) + 200_000


def test_a_run_of_ten_thousand_calls_is_usable(open_page: Open, tmp_path: Path) -> None:
    """Stretches of successes are folded; a link to the last failure leads there within seconds."""
    results = [f"Error: no such table: t{number}" if number % 100 == 99 else "3 rows" for number in range(10_000)]
    transcript = tmp_path / "long.jsonl"
    transcript.write_text(json.dumps({"task_id": "long", "traj": list(messages(results))}), encoding="utf-8")
    page = page_of(transcript)
    opened = open_page(f"{page.as_uri()}#r-1-10000")
    assert opened.page.locator("#r-1-10000").is_visible()
    top = "document.querySelector('#r-1-10000').getBoundingClientRect().top"
    opened.page.wait_for_function(f"0 <= {top} && {top} < innerHeight")
    assert opened.page.locator(".line > .fold").count() == 100
    summary = opened.page.locator(".line > .fold summary").first
    assert summary.inner_text() == "99 calls succeeded: db.query \N{MULTIPLICATION SIGN}99"
    summary.click()
    assert opened.page.locator(".line > .fold").first.locator(".bare:visible").count() == 99
    assert opened.page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 20_000


def test_a_comparison_shows_first_what_is_more_than_chance(open_page: Open, compared: Path) -> None:
    """What may be chance is folded; a row leads to its class; a class that is gone keeps a raw error."""
    page = open_page(compared).page
    table = page.get_by_role("table", name="Changes", exact=True)
    rows = [" ".join(row.inner_text().split()) for row in table.locator("tbody .entry").all()]
    ended = "unresolved \N{RIGHTWARDS ARROW} unresolved"
    assert rows == [
        "new Error new tool db.query 0 10 in 10 of 10 runs unresolved",
        f"more Error more tool db.query 2 in 2 of 12 runs 10 in 10 of 10 runs {ended}",
        f"less Error less tool db.query 10 in 10 of 12 runs 1 in 1 of 10 runs {ended}",
    ]
    assert not page.get_by_text("A raw error of the baseline").is_visible()
    page.get_by_text("2 changes that may be chance").click()
    page.get_by_text("A raw error of the baseline").click()
    assert page.get_by_label("Raw error of the baseline").inner_text() == "Error: gone"
    table.get_by_role("link").first.click()
    assert page.locator("#class-table tbody", has_text="new").first.locator(".raw pre").first.is_visible()
