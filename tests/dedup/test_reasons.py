"""Near siblings: the same output with another reason has a key of its own, also where its first line is the same."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError

TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/inn/book.py", line 9, in fill\n    store(rows)\n'
ANSWER = '{"error": {"code": "%s", "message": "no more today"}}'
BUILD = "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task '%s'.\n> %s\n"

SIBLINGS = (
    pytest.param(
        TRACEBACK + 'psycopg2.errors.NumericValueOutOfRange: value "99999999999" is out of range for type integer\n'
        'CONTEXT:  COPY stay, line 12, column %s: "99999999999"',
        ("nights", "guests"),
        id="the column that a line with its label names",
    ),
    pytest.param(
        TRACEBACK + "inn.PlanError: 3 problems\nroom 4 is not available\ncot: unknown size\nunknown tariff %s",
        ("silver", "summer"),
        id="the third of the reasons in one message",
    ),
    pytest.param(
        "/srv/inn/page.js:3\n    throw e\n    ^\n\nError: Parse error on line 2:\n...{{#each rooms}}{{/if}}\n"
        "------------------^\nExpecting 'OPEN', got '%s'\n    at parse (/srv/inn/page.js:3:11)",
        ("EOF", "CLOSE"),
        id="what a heading announces, behind the source",
    ),
    pytest.param(
        TRACEBACK + "httpx.HTTPStatusError: Client error '403 Forbidden' for url 'https://rooms.example.org/v1'\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        + TRACEBACK
        + "inn.Refused: "
        + ANSWER,
        ("not_paid", "not_yours"),
        id="the answer that a wrapper quotes",
    ),
    pytest.param(
        "curl: (22) The requested URL returned error: 409\n" + ANSWER,
        ("room_taken", "room_closed"),
        id="the answer behind the words of its client",
    ),
    pytest.param(
        "<html><head><title>503 Closed</title></head><body><p>This service is not available now.</p>"
        "<p>%s</p></body></html>",
        ("All rooms are being cleaned today.", "The owner is away for a week."),
        id="the sentence behind the one that states a failure",
    ),
    pytest.param(
        BUILD.replace("> %s", "> Could not resolve org.example:tariff:2.1."),
        (":desk:compileJava", ":kitchen:compileJava"),
        id="the task that needs what is not there",
    ),
    pytest.param(
        "> Task :desk:bundle FAILED\nerror: no plan of floor %s\n\n" + BUILD % (":desk:bundle", "Compilation failed"),
        ("ground", "attic"),
        id="what stands above a cause without content",
    ),
    pytest.param(
        "The key of %s is another one since yesterday and was put aside.\nHost key verification failed.",
        ("front.example.org", "back.example.org"),
        id="the line right above a closing statement",
    ),
    pytest.param(
        'ORA-20044: the stay 7 is not stored\nORA-06512: at "INN.STAY", line 8\nORA-%s: refused',
        ("00001", "02291"),
        id="the second code of a stack of codes",
    ),
    pytest.param(
        'pg_dump: error: Dumping the contents of table "stay" failed: PQgetResult() failed.\n'
        "pg_dump: detail: Error message from server: ERROR:  %s",
        ("permission denied for table stay", "could not read block 9"),
        id="what the server said to its client",
    ),
    pytest.param(
        "Your requirements could not be resolved to an installable set of packages.\n\n  Problem 1\n"
        "    - Root composer.json requires inn/desk ^2.0 -> satisfiable by inn/desk[2.1.0].\n"
        "    - inn/desk 2.1.0 requires inn/%s ^1.4 -> it does not match the constraint.",
        ("bell", "lamp"),
        id="the requirement behind the first one",
    ),
    pytest.param(
        "LibMambaUnsatisfiableError: Encountered problems while solving:\n  - nothing provides inn\n\n"
        "The following packages are incompatible\n\u2514\u2500 inn 1.2 would require\n"
        "   \u2514\u2500 %s 8.5.* , which does not exist (perhaps a missing channel).",
        ("bell", "lamp"),
        id="the package that does not exist",
    ),
    pytest.param(
        "go: example.org/inn imports\n\texample.org/%s: cannot find module providing package example.org/%s",
        (("bell", "bell"), ("lamp", "lamp")),
        id="what an import leads to",
    ),
    pytest.param(
        "  1) [chromium] \u203a stay.spec.ts:7:5 \u203a books a room\n\n"
        "    Error: expect(locator).toBeVisible() failed\n\n    Locator: getByText('%s')\n    Expected: visible\n\n"
        "        at /srv/inn/stay.spec.ts:9:11\n\n  1 failed",
        ("Booked", "Paid"),
        id="the element that was looked for",
    ),
    pytest.param(
        'inn.TimeoutError: Timeout 9000ms exceeded.\n==== logs ====\nwaiting for selector "%s"\n  it is hidden',
        ("#bell", "#lamp"),
        id="the element that was waited for",
    ),
    pytest.param(
        "002 (42): compilation error: error line 3 at position 14\n  invalid identifier '%s'\nmake: *** [stay] Error 1",
        ("NIGHTS", "GUESTS"),
        id="what stands below a place",
    ),
    pytest.param(
        "inn.ApiError: The request to the Inn API failed. (url: https://inn.example/v1/bell, status: 200)\n"
        "The server responded with: {'ok': False, 'error': '%s', 'trace': 'a81f0c'}",
        ("not_in_room", "room_not_found"),
        id="what the server responded with",
    ),
    pytest.param(
        "[1 of 2] Compiling Inn.Bell\n\nsrc/Inn/Bell.hs:4:13: error:\n    Variable not in scope: %s :: Text\n"
        "Error: Failed to build inn-0.2.0.0.",
        ("ringBell", "hangBell"),
        id="what stands below a place of a compiler",
    ),
    pytest.param(
        "usage: inn [options] file\n" + "  -q    do not ask, and abort if it is missing\n" * 30 + "ERROR: %s",
        ("No such stay", "Unknown file type"),
        id="the statement behind the list of options",
    ),
)


def key(text: str) -> str:
    """Return the key of a text."""
    return classify(RawError(text=text)).key


@pytest.mark.parametrize(("text", "reasons"), SIBLINGS)
def test_another_reason_is_another_class(text: str, reasons: tuple[str, str]):
    """One word of the reason is enough, wherever the output tells it."""
    one, other = reasons

    assert key(text % one) != key(text % other)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('rooms[0].size: Invalid value: "%s": must be one of the sizes', ("huge", "tiny")),
        ('psql:/tmp/stay_%s.sql:4: ERROR:  column "nights" does not exist', ("8a1", "f07")),
        ("go: inn imports\n\tinn/Bell@v%s: parsing go.mod:\n\tmodule declares its path as: bell", ("1.4.0", "1.3.9")),
    ],
)
def test_another_value_is_the_same_class(text: str, values: tuple[str, str]):
    """A value that was refused, and a version on the way to the reason, are no reasons."""
    one, other = values

    assert key(text % one) == key(text % other)
