"""Python programs that fail, and the test runners that report them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.provoke.case import Case
from corpus.provoke.tools import python_packages

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = (
    "pytest",
    "pytest-cov",
    "pytest-timeout",
    "pytest-xdist",
    "hypothesis",
    "rich",
    "typer",
    "loguru",
    "numpy",
    "django",
    "pydantic",
)
BIN = "$TOOLS/python/bin"
PYTEST = f"LOGNAME=dev {BIN}/pytest -p no:cacheprovider"
PYTHON = f"{BIN}/python"


def prepare(tools: Path) -> None:
    """Install what the cases run into an environment of its own."""
    python_packages(tools / "python", *PACKAGES)


# --- programs --------------------------------------------------------------------------------------------------------

INVENTORY = '''\
"""What is in stock, and what it costs."""

from decimal import Decimal


class OutOfStock(Exception):
    """Raised when there is less in stock than was asked for."""


class Inventory:
    def __init__(self, levels):
        self.levels = levels
        self.reserved = {}

    def reserve(self, sku, count):
        if self.levels[sku] < count:
            raise OutOfStock(f"{sku}: {count} wanted, {self.levels[sku]} in stock")
        self.levels[sku] -= count
        self.reserved[sku] = count

    def value(self, prices):
        return sum(Decimal(prices[sku]) for sku in self.levels)

    def labels(self):
        return [f"{sku.lower()}-{count}" for sku, count in self.levels.items()]
'''

TEST_INVENTORY = """\
from decimal import Decimal

import pytest

from warehouse.inventory import Inventory, OutOfStock


@pytest.fixture
def inventory():
    return Inventory({"BOLT": 40, "NUT": 2})


def test_reserve_lowers_the_level(inventory):
    inventory.reserve("BOLT", 10)
    assert inventory.levels["BOLT"] == 30


def test_value_multiplies_by_count(inventory):
    assert inventory.value({"BOLT": "0.10", "NUT": "0.05"}) == Decimal("4.10")


@pytest.mark.parametrize(("sku", "count"), [("BOLT", 1), ("NUT", 3), ("WASHER", 1)])
def test_reserve(inventory, sku, count):
    inventory.reserve(sku, count)


def test_labels(inventory):
    assert inventory.labels() == [
        "bolt-40",
        "nut-02",
    ]


def test_too_many_are_refused(inventory):
    with pytest.raises(OutOfStock):
        inventory.reserve("NUT", 2)


def test_release(inventory):
    inventory.reserve("NUT", 1)
    inventory.release("NUT")
"""

WAREHOUSE = {
    "warehouse/__init__.py": "",
    "warehouse/inventory.py": INVENTORY,
    "tests/test_inventory.py": TEST_INVENTORY,
    "pytest.ini": "[pytest]\npythonpath = .\n",
}

SETTINGS = """\
import json
import os


class SettingsError(RuntimeError):
    pass


def load(environment):
    path = os.path.join("settings", f"{environment}.json")
    try:
        with open(path) as stream:
            return json.load(stream)
    except OSError as error:
        raise SettingsError(f"no settings for {environment!r}") from error
"""

GATEWAY = """\
from gateway.settings import load


class Gateway:
    def __init__(self, environment="staging"):
        self.settings = load(environment)

    def url(self, path):
        return self.settings["base"] + path
"""

TEST_GATEWAY = """\
import pytest

from gateway.client import Gateway

PATHS = ["/orders", "/orders/7", "/users", "/users/me", "/health", "/metrics"]


@pytest.mark.parametrize("path", PATHS)
def test_url(path):
    assert Gateway().url(path).endswith(path)


def test_is_https():
    assert Gateway().url("/").startswith("https:")


def test_names():
    assert len(PATHS) == 6
"""

GATEWAY_PROJECT = {
    "gateway/__init__.py": "",
    "gateway/settings.py": SETTINGS,
    "gateway/client.py": GATEWAY,
    "tests/test_client.py": TEST_GATEWAY,
    "pytest.ini": "[pytest]\npythonpath = .\n",
}

TEST_FIXTURES = """\
import sqlite3

import pytest


@pytest.fixture
def connection():
    connection = sqlite3.connect(":memory:")
    connection.execute("select count(*) from customers").fetchone()
    return connection


@pytest.fixture
def temporary(tmp_path):
    yield tmp_path
    raise RuntimeError("temporary folder is not empty")


@pytest.mark.parametrize("name", ["ann", "bob", "cem", "dan", "eva"])
def test_customer(connection, name):
    assert name


def test_orders(connection):
    assert connection


def test_upload(temporary):
    assert temporary


def test_report(reporter):
    assert reporter
"""

TEST_ASSERTIONS = """\
import logging
import re
from dataclasses import dataclass

import numpy as np
import pytest

log = logging.getLogger("billing")


@dataclass
class Invoice:
    number: int
    currency: str
    lines: tuple


def discounted(amount, percent):
    print(f"discounting {amount}")
    log.warning("percent above limit: %s", percent)
    return amount - percent


def test_discount():
    assert discounted(100, 30) == pytest.approx(70.0)
    assert discounted(200, 10) == pytest.approx(180.0), "ten percent of two hundred"


def test_invoice():
    assert Invoice(7, "EUR", (1, 2)) == Invoice(7, "USD", (1, 2))


def test_refuses_negative_amounts():
    with pytest.raises(ValueError):
        discounted(-1, 0)


def test_message():
    with pytest.raises(ValueError, match="must be positive"):
        int("minus one")


def test_matrix():
    np.testing.assert_allclose(np.array([1.0, 2.0, 3.5]), np.array([1.0, 2.0, 3.0]), rtol=1e-6)


def test_text():
    text = "total: 12 EUR\\nnet: 10 EUR\\ntax: 2 EUR\\n"
    assert text == "total: 12 EUR\\nnet: 9 EUR\\ntax: 3 EUR\\n"


def test_membership():
    assert "discount" in {"total": 12, "net": 10}


def test_pattern():
    assert re.match(r"INV-[0-9]+", "inv-12") is not None


def test_not_written_yet():
    pytest.fail("nobody has written the export yet")
"""

TEST_HYPOTHESIS = """\
from hypothesis import given, settings, strategies as st


def encode(text):
    out = []
    for letter in text:
        if out and out[-1][0] == letter:
            out[-1][1] += 1
        else:
            out.append([letter, 1])
    return out


def decode(pairs):
    return "".join(letter * min(count, 2) for letter, count in pairs)


@settings(derandomize=True, database=None)
@given(st.text(alphabet="ab"))
def test_decoding_inverts_encoding(text):
    assert decode(encode(text)) == text
"""

TEST_GROUP = """\
def fetch(shard):
    if shard == 2:
        raise TimeoutError(f"shard {shard} did not answer")
    if shard == 5:
        raise KeyError("checksum")


def sync(shards):
    errors = []
    for shard in shards:
        try:
            fetch(shard)
        except Exception as error:
            errors.append(error)
    if errors:
        raise ExceptionGroup("sync failed", errors)


def test_sync():
    sync(range(6))
"""

TEST_TIMEOUT = """\
import time

import pytest


def poll(queue):
    while not queue:
        time.sleep(0.05)


@pytest.mark.timeout(0.3)
def test_queue_is_drained():
    poll([])


def test_other():
    assert True
"""

UNITTEST = '''\
import unittest


def parse(line):
    name, amount = line.split(";")
    return name, int(amount)


class ParseTest(unittest.TestCase):
    def test_amount(self):
        self.assertEqual(parse("ann;12"), ("ann", 12.5))

    def test_missing_amount(self):
        parse("ann")

    def test_bad_amount(self):
        self.assertRaises(TypeError, parse, "ann;x")

    def test_lines(self):
        for line in ("a;1", "b;2", "c", "d;4"):
            with self.subTest(line=line):
                self.assertEqual(len(parse(line)), 2)

    def test_names(self):
        self.assertListEqual([parse("a;1")[0], "b"], ["a", "c"], "names differ")

    def test_fine(self):
        """A test that passes."""


class StoreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.store = open("store.db")

    def test_get(self):
        pass


if __name__ == "__main__":
    unittest.main()
'''

DOCTEST = '''\
def double(x):
    """
    >>> double(2)
    4
    >>> double("ab")
    'abab'
    >>> double(None)
    Traceback (most recent call last):
        ...
    TypeError: no number
    """
    return x + x + 1 if isinstance(x, int) else x * 2
'''

DJANGO = {
    "manage.py": """\
import os
import sys

from django.core.management import execute_from_command_line

os.environ["DJANGO_SETTINGS_MODULE"] = "site_settings"
execute_from_command_line(sys.argv)
""",
    "site_settings.py": """\
SECRET_KEY = "not-a-secret"
INSTALLED_APPS = ["notes"]
ROOT_URLCONF = "notes.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
""",
    "notes/__init__.py": "",
    "notes/urls.py": "from django.urls import path\nfrom notes.views import show\n\n"
    "urlpatterns = [path('notes/', show)]\n",
    "notes/views.py": """\
from django.http import JsonResponse


def show(request):
    return JsonResponse({"count": request.GET["limit"]})
""",
    "notes/tests.py": """\
from django.test import SimpleTestCase


class NoteTests(SimpleTestCase):
    def test_list(self):
        self.client.get("/notes/")

    def test_limit(self):
        self.assertEqual(self.client.get("/notes/?limit=3").json(), {"count": 3})

    def test_unknown(self):
        self.assertEqual(self.client.get("/note/").status_code, 200)

    def test_feed(self):
        self.client.get("/notes/?page=2")
""",
}

CASES = [
    # --- pytest ------------------------------------------------------------------------------------------------------
    Case(name="several_causes", format="pytest", command=PYTEST, files=WAREHOUSE),
    Case(name="short_tracebacks", format="pytest", command=f"{PYTEST} -q --tb=short", files=WAREHOUSE),
    Case(name="one_line_each", format="pytest", command=f"{PYTEST} -q --tb=line", files=WAREHOUSE),
    Case(
        name="native_tracebacks",
        format="pytest",
        command=f"{PYTEST} -v --tb=native -k 'NUT or release'",
        files=WAREHOUSE,
    ),
    Case(name="summary_only", format="pytest", command=f"{PYTEST} --tb=no -q", files=WAREHOUSE),
    Case(name="first_failure", format="pytest", command=f"{PYTEST} -x -vv", files=WAREHOUSE),
    Case(name="tail", format="pytest", command=f"{PYTEST} 2>&1 | tail -9", files=WAREHOUSE),
    Case(name="head", format="pytest", command=f"{PYTEST} 2>&1 | head -48", files=WAREHOUSE),
    Case(name="parallel", format="pytest", command=f"{PYTEST} -n 2 -v", files=WAREHOUSE),
    Case(
        name="coverage",
        format="pytest",
        command=f"{PYTEST} -q -k 'labels or release' --cov=warehouse --cov-report=term-missing --cov-fail-under=90",
        files=WAREHOUSE,
    ),
    Case(name="shared_exception", format="pytest", command=PYTEST, files=GATEWAY_PROJECT),
    Case(name="shared_exception_short", format="pytest", command=f"{PYTEST} -rA --tb=short", files=GATEWAY_PROJECT),
    Case(name="fixtures", format="pytest", command=PYTEST, files={"tests/test_customers.py": TEST_FIXTURES}),
    Case(name="assertions", format="pytest", command=PYTEST, files={"tests/test_billing.py": TEST_ASSERTIONS}),
    Case(name="hypothesis", format="pytest", command=PYTEST, files={"test_codec.py": TEST_HYPOTHESIS}),
    Case(name="exception_group", format="pytest", command=PYTEST, files={"test_sync.py": TEST_GROUP}),
    Case(name="timeout", format="pytest", command=PYTEST, files={"test_queue.py": TEST_TIMEOUT}),
    Case(
        name="timeout_thread",
        format="pytest",
        command=f"{PYTEST} --timeout-method=thread",
        files={"test_queue.py": TEST_TIMEOUT},
    ),
    Case(
        name="import_error",
        format="pytest",
        command=f"{PYTEST} -q",
        files={
            "tests/test_orders.py": "from shopkit.orders import place\n\n\ndef test_place():\n    assert place()\n",
            "tests/test_carts.py": "from shopkit.carts import Cart\n\n\ndef test_cart():\n    assert Cart()\n",
            "tests/test_prices.py": "import shopkit\n\n\ndef test_price():\n    assert shopkit\n",
        },
    ),
    Case(
        name="import_name_error",
        format="pytest",
        command=PYTEST,
        files={
            "pytest.ini": "[pytest]\npythonpath = .\n",
            "shopkit/__init__.py": "from shopkit.models import Order\n",
            "shopkit/models.py": "from shopkit.money import Money\n\n\nclass Order:\n    total = Money(0)\n",
            "shopkit/money.py": "class Amount:\n    pass\n",
            "tests/test_orders.py": "import shopkit\n\n\ndef test_order():\n    assert shopkit.Order()\n",
            "tests/test_money.py": "from shopkit import money\n\n\ndef test_money():\n    assert money\n",
        },
    ),
    Case(
        name="syntax_error",
        format="pytest",
        command=PYTEST,
        files={"tests/test_a.py": "def test_a():\n    total = (1 +\n    assert total\n"},
    ),
    Case(
        name="conftest",
        format="pytest",
        command=PYTEST,
        files={"tests/conftest.py": "import factory_of_boys\n", "tests/test_a.py": "def test_a():\n    pass\n"},
    ),
    Case(name="no_such_file", format="pytest", command=f"{PYTEST} tests/test_cart.py -q", files={"a.py": ""}),
    Case(
        name="no_such_test",
        format="pytest",
        command=f"{PYTEST} tests/test_inventory.py::test_relase",
        files=WAREHOUSE,
    ),
    Case(name="no_such_option", format="pytest", command=f"{PYTEST} --retries=3 tests", files=WAREHOUSE),
    Case(name="no_tests", format="pytest", command=f"{PYTEST} -k nothing_like_that", files=WAREHOUSE),
    Case(
        name="unknown_marker",
        format="pytest",
        command=PYTEST,
        files={
            "pytest.ini": "[pytest]\naddopts = --strict-markers\n",
            "test_a.py": "import pytest\n\n\n@pytest.mark.slow\ndef test_a():\n    pass\n",
        },
    ),
    Case(
        name="worker_crash",
        format="pytest",
        command=f"{PYTEST} -n 2 -q",
        files={"test_native.py": "import os\n\n\ndef test_a():\n    os.abort()\n\n\ndef test_b():\n    pass\n"},
    ),
    Case(
        name="warnings_and_async",
        format="pytest",
        command=PYTEST,
        files={
            "test_a.py": "import warnings\n\n\nasync def test_fetch():\n    pass\n\n\ndef test_old():\n"
            "    warnings.warn('use fetch instead', DeprecationWarning)\n    assert 1 + 1 == 3\n"
        },
    ),
    Case(
        name="internal_error",
        format="pytest",
        command=PYTEST,
        files={
            "conftest.py": "def pytest_collection_modifyitems(items):\n    items.sort(key=lambda item: item.rank)\n",
            "test_a.py": "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n",
        },
    ),
    Case(name="unittest_classes", format="pytest", command=PYTEST, files={"test_parse.py": UNITTEST}),
    Case(name="doctest", format="pytest", command=f"{PYTEST} --doctest-modules", files={"numbers_.py": DOCTEST}),
    # --- unittest ----------------------------------------------------------------------------------------------------
    Case(
        name="errors_and_failures",
        format="unittest",
        command=f"{PYTHON} test_parse.py",
        files={"test_parse.py": UNITTEST},
    ),
    Case(name="verbose", format="unittest", command=f"{PYTHON} -m unittest -v", files={"test_parse.py": UNITTEST}),
    Case(
        name="import_failures",
        format="unittest",
        command=f"{PYTHON} -m unittest discover -s tests",
        files={
            "tests/test_orders.py": "import shopkit.orders\n",
            "tests/test_carts.py": "import unittest\n\nfrom shopkit import carts\n",
        },
    ),
    Case(
        name="tail",
        format="unittest",
        command=f"{PYTHON} test_parse.py 2>&1 | tail -12",
        files={"test_parse.py": UNITTEST},
    ),
    Case(name="django", format="unittest", command=f"{PYTHON} manage.py test", files=DJANGO),
    Case(name="doctest", format="unittest", command=f"{PYTHON} -m doctest numbers_.py", files={"numbers_.py": DOCTEST}),
    Case(
        name="one_cause",
        format="unittest",
        command=f"{PYTHON} -m unittest",
        files={
            "gateway/__init__.py": "",
            "gateway/settings.py": SETTINGS,
            "gateway/client.py": GATEWAY,
            "test_client.py": "import unittest\n\nfrom gateway.client import Gateway\n\n\n"
            "class UrlTest(unittest.TestCase):\n    def setUp(self):\n        self.gateway = Gateway()\n\n"
            + "\n".join(
                f"    def test_{name}(self):\n        self.assertTrue(self.gateway.url('/{name}'))\n"
                for name in ("orders", "users", "health", "metrics", "carts")
            ),
        },
    ),
    # --- tracebacks --------------------------------------------------------------------------------------------------
    Case(
        name="chain",
        format="python",
        command=f"{PYTHON} -W default main.py",
        files={
            "gateway/__init__.py": "",
            "gateway/settings.py": SETTINGS,
            "gateway/client.py": GATEWAY,
            "main.py": "import warnings\n\nfrom gateway.client import Gateway\n\n"
            "warnings.warn('staging goes away', DeprecationWarning)\nprint('starting')\nGateway()\n",
        },
    ),
    Case(
        name="group",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
import asyncio


async def fetch(shard):
    await asyncio.sleep(0)
    if shard == 2:
        raise TimeoutError(f"shard {shard} did not answer")
    if shard % 2:
        raise KeyError("checksum")


async def main():
    async with asyncio.TaskGroup() as group:
        for shard in range(6):
            group.create_task(fetch(shard))


asyncio.run(main())
"""
        },
    ),
    Case(
        name="validation",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
from pydantic import BaseModel, Field


class Address(BaseModel):
    street: str


class Customer(BaseModel):
    name: str = Field(min_length=2)
    age: int
    address: Address
    tags: list[str]


Customer.model_validate({"name": "a", "age": "old", "address": {}, "tags": ["x", 3]})
"""
        },
    ),
    Case(
        name="process_pool",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
from concurrent.futures import ProcessPoolExecutor


def resize(width):
    return 1024 // width


def main():
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(resize, [4, 2, 0])))


if __name__ == "__main__":
    main()
"""
        },
    ),
    Case(
        name="threads",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
import threading

LIMITS = {"cpu": 4}


def watch(name):
    if LIMITS[name] > 2:
        print("watching", name)


for name in ("cpu", "disk"):
    thread = threading.Thread(target=watch, args=(name,))
    thread.start()
    thread.join()
print("done")
"""
        },
    ),
    Case(
        name="unretrieved_task",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
import asyncio


async def publish(event):
    raise ConnectionResetError(f"broker closed the connection while sending {event!r}")


async def main():
    task = asyncio.ensure_future(publish("order.created"))
    await asyncio.sleep(0.01)
    del task


asyncio.run(main())
"""
        },
    ),
    Case(
        name="ignored_in_destructor",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
class Session:
    def __init__(self, token):
        self.token = token.strip()
        self.socket = None

    def __del__(self):
        self.socket.close()


Session(None)
"""
        },
    ),
    Case(
        name="syntax",
        format="python",
        command=f"{PYTHON} main.py",
        files={"main.py": "def total(lines)\n    return sum(lines)\n"},
    ),
    Case(
        name="syntax_in_import",
        format="python",
        command=f"{PYTHON} main.py",
        files={"main.py": "import prices\n", "prices.py": "PRICES = {\n    'bolt': 3,\n    'nut' 4,\n}\n"},
    ),
    Case(
        name="suggestion",
        format="python",
        command=f"{PYTHON} main.py",
        files={"main.py": "from decimal import Decimal\n\nprint(Decimal('1.25').quantise(Decimal('0.1')))\n"},
    ),
    Case(
        name="long_message",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
def render(template, values):
    missing = [name for name in template if name not in values]
    if missing:
        raise LookupError("template has unknown names:\\n" + "\\n".join(f"  - {name}" for name in missing))


render(["total", "net", "tax", "currency"], {"total": 3})
"""
        },
    ),
    Case(
        name="log_records",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
import logging

logging.basicConfig(level="INFO", format="2026-03-01 09:00:00,000 %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("jobs")


def run(job):
    return job["steps"][0]["command"].split()


for number, job in enumerate([{"steps": [{"command": "ls"}]}, {"steps": []}, {"steps": [{}]}]):
    log.info("job %d", number)
    try:
        run(job)
    except Exception:
        log.exception("job %d failed", number)
log.info("all jobs done")
"""
        },
    ),
    Case(
        name="loguru",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
from loguru import logger


def ratio(hits, total):
    return hits / total


@logger.catch
def report(numbers):
    return [ratio(*pair) for pair in numbers]


report([(1, 2), (3, 0)])
"""
        },
    ),
    Case(
        name="recursion",
        format="python",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
def depth(node):
    return 1 + depth(node["parent"])


root = {}
root["parent"] = root
depth(root)
"""
        },
    ),
    # --- rich --------------------------------------------------------------------------------------------------------
    Case(
        name="traceback",
        format="rich",
        command=f"{PYTHON} main.py",
        files={
            "main.py": """\
import json

from rich.traceback import install

install(show_locals=True, width=100)


def read(text):
    return json.loads(text)["rows"]


def main():
    for text in ('{"rows": []}', '{"rows": [}'):
        print(len(read(text)))


main()
"""
        },
    ),
    Case(
        name="chain",
        format="rich",
        command=f"{PYTHON} main.py",
        files={
            "gateway/__init__.py": "",
            "gateway/settings.py": SETTINGS,
            "gateway/client.py": GATEWAY,
            "main.py": "import rich.traceback\n\nfrom gateway.client import Gateway\n\n"
            "rich.traceback.install(width=100)\nGateway().url('/orders')\n",
        },
    ),
    Case(
        name="usage",
        format="rich",
        command=f"{PYTHON} main.py --verbos report.csv",
        files={
            "main.py": """\
import typer


def main(path: str, verbose: bool = False):
    print(path, verbose)


typer.run(main)
"""
        },
    ),
]
