"""
Test one format: `make test-format FORMAT=pytest`.

Its own tests, its cases in the corpus, the table, and the facts and verdicts of all cases: it may take the text of
another.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from otel_errcompact.tools import ORDER

TOOLS = Path(__file__).parent
EXTRACT = TOOLS.parent / "extract"
SHARED = ("table", "recognition", "prefilter", "corpus", "corpus_keys")
VERDICTS = TOOLS.parent / "detector" / "test_verdicts.py"


class OnlyFormat:
    """
    Leaves those tests of the corpus out that are not about a format.
    """

    def __init__(self, name: str):
        self.name = name

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        items[:] = filter(self._concerns, items)

    def _concerns(self, test: pytest.Function) -> bool:
        if not test.path.name.startswith("test_corpus") or test.originalname == "test_facts":
            return True
        asked = test.callspec.params if hasattr(test, "callspec") else {}
        return self.name in (asked.get("form"), getattr(asked.get("case"), "format", ""))


def main() -> int:
    """Run the tests, and return the exit status."""
    parser = argparse.ArgumentParser(prog="make test-format", usage="make test-format FORMAT=NAME")
    parser.add_argument("format", metavar="FORMAT", choices=sorted(ORDER))
    name = parser.parse_args().format
    own = [path for folder in (TOOLS, EXTRACT) for path in folder.rglob(f"test_{name}.py")]
    shared = [EXTRACT / f"test_{each}.py" for each in SHARED]
    return pytest.main(["-q", *map(str, (*own, *shared, VERDICTS))], [OnlyFormat(name)])


if __name__ == "__main__":
    sys.exit(main())
