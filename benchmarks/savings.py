"""
What digests of live exceptions cost against what frameworks send today: `python -m benchmarks.savings`.

Tools fail as those of production agents do. Frameworks put `str(e)` or `repr(e)` into the context, few the traceback.
"""

from __future__ import annotations

import asyncio
import json
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pydantic

import otel_errcompact as errcompact
from benchmarks.quality.report import table
from otel_errcompact.digest.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SIGHTINGS: Final = 2


class Order(pydantic.BaseModel):
    """What one of the tools takes."""

    sku: str = pydantic.Field(min_length=6)
    quantity: int = pydantic.Field(gt=0)
    ship_by: str


class PaymentDeclinedError(Exception):
    """A service's refusal."""


def miss_key() -> object:
    """Look up what is not there."""
    customers: dict[str, object] = {"c1": {}}
    return customers["c7"]


def divide() -> float:
    """Divide by a sum that is nothing."""
    return 3 / sum([])


def read_file() -> str:
    """Read a file that does not exist."""
    return Path("reports/2026-11.csv").read_text(encoding="utf-8")


def parse() -> object:
    """Read arguments that break off."""
    return json.loads('{"sku": "KLN-2291", "delta": -4, "reason": "damaged')


def convert() -> int:
    """Convert what is no number."""
    return int("12,50")


def validate() -> object:
    """Break three rules at once."""
    return Order.model_validate({"sku": "abc", "quantity": 0})


def decline() -> None:
    """Be refused by a service."""
    raise PaymentDeclinedError("card_declined: insufficient_funds (pi_3Q9xT2LkdIwHu7ix0), retry with another card")


def time_out() -> None:
    """Time out without a message."""
    raise TimeoutError


def misuse() -> object:
    """Call with an argument of another name."""
    return divide(numbers=[])  # type: ignore[call-arg]


def wrap() -> None:
    """Wrap the root in two other errors."""
    try:
        try:
            read_file()
        except OSError as error:
            raise ValueError("the catalogue cannot be read") from error
    except ValueError as error:
        raise RuntimeError("import of spring stopped after 3 of 9 files") from error


def gather() -> None:
    """Fail in three tasks of which two have one cause."""

    async def fetch(shop: str) -> None:
        await asyncio.sleep(0)
        if shop != "berlin":
            raise ConnectionRefusedError(111, f"{shop} refused")
        miss_key()

    async def fetch_all() -> None:
        async with asyncio.TaskGroup() as group:
            for shop in ("berlin", "basel", "paris"):
                group.create_task(fetch(shop))

    asyncio.run(fetch_all())


def recurse() -> None:
    """Never come to an end."""
    recurse()


TOOLS: Final[Mapping[str, Callable[[], object]]] = {
    "KeyError": miss_key,
    "ZeroDivisionError": divide,
    "FileNotFoundError": read_file,
    "JSONDecodeError": parse,
    "ValueError": convert,
    "three violations": validate,
    "a service's refusal": decline,
    "TimeoutError without a message": time_out,
    "wrong argument": misuse,
    "chain of three": wrap,
    "group of three": gather,
    "recursion": recurse,
}


class Cost(NamedTuple):
    """Tokens of one failure in each form."""

    traceback: int
    message: int
    representation: int
    first: int
    repeat: int


def measure(tool: Callable[[], object]) -> Cost:
    """Return what a tool's failure costs, at the first sight and when it fails again."""
    failed: list[BaseException] = []
    digests: list[str] = []
    with errcompact.run(mode="advise") as run:
        for _ in range(SIGHTINGS):
            with run.tool(tool.__name__) as call:
                try:
                    tool()
                except Exception as error:  # noqa: BLE001 - whatever the tool raises is what is measured
                    failed.append(error)
                    call.fail(error)
            digests.append(call.text)
    error = failed[0]
    texts = ("".join(traceback.format_exception(error)), str(error), repr(error), *digests)
    return Cost(*map(estimate_tokens, texts))


def main(tools: Mapping[str, Callable[[], object]] = TOOLS) -> None:
    """Print the table."""
    costs = {name: measure(tool) for name, tool in tools.items()}
    rows: list[Sequence[object]] = [(name, *cost) for name, cost in costs.items()]
    rows.append(("all", *map(sum, zip(*costs.values(), strict=True))))
    print(table(("exception", "traceback", "`str(e)`", "`repr(e)`", "digest, first", "digest, again"), rows))


if __name__ == "__main__":
    main()
