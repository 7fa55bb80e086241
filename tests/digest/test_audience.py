from __future__ import annotations

import pytest

import otel_errcompact as errcompact
from otel_errcompact.config import Options
from otel_errcompact.detector.roles import edits_code
from otel_errcompact.digest import DigestOptions
from otel_errcompact.digest.audience import show_to
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import Facts, Location


class OrderError(Exception):
    """
    What a client of an HTTP API raises.
    """

    def __init__(self) -> None:
        super().__init__("order refused")
        self.error_status_hint = 400
        self.retry_after = 7


def order() -> None:
    try:
        raise OrderError
    except OrderError as error:
        raise LookupError("no tea") from error


def read(tool: str, arguments: dict[str, object], options: DigestOptions | None = None) -> list[str]:
    """What the agent reads of the order that fails, and then the place in the block for its next prompt."""
    with errcompact.run(ledger=Ledger(Options(digest=options or DigestOptions()))) as run:
        with run.tool(tool, arguments=arguments) as call:
            order()
        return [*(line.partition(" #")[0] for line in call.text.splitlines()), run.digest().splitlines()[1]]


USER = [
    "[tests.digest.test_audience.OrderError] at order (test_audience.py): order refused",
    "  | retry_after: 7",
    "  | raised as LookupError at order (test_audience.py): no tea",
]


def test_an_application_s_own_tool_shows_no_code() -> None:
    """Type, message, chain, function and file name; of the values only what somebody can act on."""
    shown = read("shop.order", {"item": "tea"})
    assert shown[:-1] == USER
    assert shown[-1].startswith(USER[0])


def test_a_tool_that_works_on_code_shows_it() -> None:
    """Place, and what the client carries, as a developer needs them."""
    shown = read("bash", {"command": "python order.py"})
    assert shown[0].startswith(f"[tests.digest.test_audience.OrderError] at order ({__file__}:")
    assert "  | error_status_hint: 400" in shown


def test_the_option_goes_before_the_call() -> None:
    """Both ways."""
    assert read("bash", {"command": "python order.py"}, DigestOptions(audience="user"))[:-1] == USER
    assert read("shop.order", {}, DigestOptions(audience="developer"))[0].startswith(
        f"[tests.digest.test_audience.OrderError] at order ({__file__}:"
    )


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("> charge(card)", ()),
        ("raised in raise_for_status (httpx/_models.py:829)", ()),
        ("called from pay (shop/pay.py:7)", ()),
        ("For more information check: https://developer.mozilla.org/docs/Web/HTTP/Status/403", ()),
        ("(Background on this error at: https://sqlalche.me/e/20/e3q8)", ()),
        ("status_code: 403", ()),
        ("raised as E at price (/srv/shop/price.py:17): no", ("raised as E at price (price.py): no",)),
        ("see you at 12:30", ("see you at 12:30",)),
        ("status: shipped", ("status: shipped",)),
        ("visit https://shop.example/orders/7 is not yours", ("visit https://shop.example/orders/7 is not yours",)),
    ],
)  # fmt: skip
def test_what_says_nothing_without_the_code_goes(line: str, shown: tuple[str, ...]) -> None:
    """All other lines stay as they are."""
    facts = Facts(type="E", cause="no", location=Location(function="f", file="C:\\shop\\a.py", line=3), details=(line,))
    made = show_to(facts, DigestOptions(), tool="order", is_exception=True)
    assert (str(made.location), made.details) == ("f (a.py)", shown)


def test_a_text_is_shown_whole() -> None:
    """What a program has printed may be about the code that the agent edits."""
    facts = Facts(type="E", cause="no", details=("> x = 1",))
    assert show_to(facts, DigestOptions(), tool="order", is_exception=False) is facts


@pytest.mark.parametrize(
    ("tool", "arguments", "edits"),
    [
        ("bash", '{"command": "ls"}', True),
        ("run_tests", "", True),
        ("execute_code", "", True),
        ("str_replace_based_edit_tool", "", True),
        ("write_file", "", True),
        ("applyPatch", "", True),
        ("Edit", "", True),
        ("upload", '{"path": "a.py"}', True),
        ("", "", True),
        ("refund", '{"n": 1}', False),
        ("sql", '{"query": "select 1"}', False),
        ("get_profile", "", False),
        ("credit", "", False),
    ],
)
def test_who_works_on_code_is_told_by_the_call(tool: str, arguments: str, edits: bool) -> None:
    """By what it runs, by a file among its arguments, or by its name; where no tool is known, nothing is taken away."""
    assert edits_code(tool, arguments) is edits
