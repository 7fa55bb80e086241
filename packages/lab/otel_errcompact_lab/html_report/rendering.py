"""The page's data as HTML, by one template."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Final, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from otel_errcompact.digest import one_line
from otel_errcompact.escalator.thresholds import ASKING
from otel_errcompact_lab.html_report.text import mark_code, mark_special

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact_lab.html_report.collector import PageData
    from otel_errcompact_lab.html_report.comparison import Comparison, Figure

SIGNATURE: Final = "<!doctype html>\n<!-- errcompact report -->"
"""How every page begins: what begins like this may be written over."""

_PACKAGE: Final = "otel_errcompact_lab.html_report"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HEAD: Final = 80
_HEIGHT: Final = 24
_LEAST: Final = 2
"""Height of the lowest bar: one occurrence among thousands is seen."""


def html_of(page: PageData, comparison: Comparison | None = None) -> Iterator[str]:
    """Yield the page in pieces, so that memory never holds it twice."""
    style, script = _read_asset("page.css"), _read_asset("page.js")
    return (
        _build_environment()
        .get_template("page.html.jinja")
        .generate(
            page=page,
            comparison=comparison,
            changes={entry.key: entry for entry in comparison.classes} if comparison is not None else {},
            signature=Markup(SIGNATURE),  # noqa: S704 - a constant
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            style_hash=_hash_for_policy(style),
            script_hash=_hash_for_policy(script),
            version=version("otel-errcompact"),
            share=share,
            heads={entry.key: f"{entry.type}: {one_line(entry.cause, limit=_HEAD)}" for entry in page.classes},
        )
    )


def spark_path(bins: Sequence[int], width: int) -> str:
    """Return the bars of a sparkline as the path of an SVG."""
    highest = max(bins, default=0)
    bars = ((at * width, max(_LEAST, round(value * _HEIGHT / highest))) for at, value in enumerate(bins) if value)
    return "".join(f"M{x} {_HEIGHT}v-{height}h{width - 1}v{height}z" for x, height in bars)


def number(value: int) -> str:
    """Return a number with its thousands apart."""
    return f"{value:,}"


def moment(ns: int) -> str:
    """Return a time in UTC, or seconds where no calendar has it."""
    return format_time(ns, "%Y-%m-%d %H:%M:%S") or f"{ns // 1_000_000_000:,} s"


def clock(ns: int) -> str:
    """Return the time of day in UTC, or seconds beyond the calendar."""
    return format_time(ns, "%H:%M:%S") or moment(ns)


def format_time(ns: int, form: str) -> str:
    """Return a time in UTC; empty where no calendar has it."""
    try:
        return (_EPOCH + timedelta(seconds=ns // 1_000_000_000)).strftime(form)
    except OverflowError:
        return ""


def figure(value: float | None, kind: Figure) -> str:
    """Return a compared number; a dash where it is not known."""
    if value is None:
        return "\N{EN DASH}"
    return f"{100 * value:.1f} %" if kind.is_share else number(int(value))


def share(part: int, whole: int) -> str:
    """Return a share in percent; a dash where there is no whole."""
    if not whole:
        return "\N{EN DASH}"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < _SMALL else f"{percent:.1f} %"


_SMALL: Final = 0.1


def _read_asset(name: str) -> str:
    return (files(_PACKAGE) / "assets" / name).read_text(encoding="utf-8")


def _hash_for_policy(text: str) -> str:
    # The page's policy lets this very text run, and no other.
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE, "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # jinja2 types the table by its own entries.
    filters: dict[str, object] = {
        "marked": mark_special,
        "code": mark_code,
        "asks": ASKING.__contains__,
        "clock": clock,
        "figure": figure,
        "number": number,
        "moment": moment,
        "time": format_time,
        "spark_path": spark_path,
    }
    cast("dict[str, object]", environment.filters).update(filters)
    return environment
