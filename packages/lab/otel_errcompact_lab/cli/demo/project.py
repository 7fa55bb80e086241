"""The project of the demo: small, real, and broken in four places."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

# The first line of the object lacks its comma.
_SETTINGS: Final = """\
{
  "database": "sales.db"
  "report": "sales.csv",
  "upload": "%(upload)s"
}
"""

# A day without orders divides by zero; four of the six tests meet it, on three ways.
_STATS: Final = '''\
"""Figures of the shop's days."""


def average(revenue, orders):
    return revenue / orders


def summary(day):
    revenue = sum(day)
    return {"orders": len(day), "revenue": revenue, "average": average(revenue, len(day))}


def week(days):
    return [summary(day) for day in days]


def best(days):
    return max(days, key=lambda day: summary(day)["average"])
'''

_TESTS: Final = """\
import unittest

from shop import stats


class TestStats(unittest.TestCase):
    def test_one_order(self):
        self.assertEqual(stats.summary([1250])["average"], 1250)

    def test_some_orders(self):
        self.assertEqual(stats.summary([500, 700])["revenue"], 1200)

    def test_a_day_without_orders(self):
        self.assertEqual(stats.summary([])["average"], 0)

    def test_a_week_with_a_holiday(self):
        self.assertEqual([day["orders"] for day in stats.week([[500], [], [700]])], [1, 0, 1])

    def test_a_week_of_holidays(self):
        self.assertEqual(len(stats.week([[]] * 7)), 7)

    def test_the_best_day(self):
        self.assertEqual(stats.best([[], [300, 500], [200]]), [300, 500])
"""

_EXPORT: Final = """\
import argparse
import csv
import json
import sqlite3
import sys

parser = argparse.ArgumentParser(prog="export", description="Export the sales.")
parser.add_argument("database")
parser.add_argument("report")
parser.add_argument("--format", choices=["csv", "json"], default="csv")
options = parser.parse_args()

connection = sqlite3.connect(options.database)
rows = connection.execute("SELECT region, amount_cents FROM orders ORDER BY id").fetchall()
connection.close()
with open(options.report, "w", newline="") as report:
    csv.writer(report).writerows(rows) if options.format == "csv" else json.dump(rows, report)
print(f"{len(rows)} rows written to {options.report}")
"""

_ORDERS: Final = (("north", 1250), ("south", 890), ("north", 4300), ("west", 760))


def write_project(root: Path, upload: str) -> None:
    """Write the project into the folder `root`."""
    files = {
        "settings.json": _SETTINGS % {"upload": upload},
        "shop/__init__.py": "",
        "shop/stats.py": _STATS,
        "shop/export.py": _EXPORT,
        "tests/test_stats.py": _TESTS,
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    with closing(sqlite3.connect(root / "sales.db")) as connection, connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, region TEXT, amount_cents INTEGER)")
        connection.executemany("INSERT INTO orders (region, amount_cents) VALUES (?, ?)", _ORDERS)
