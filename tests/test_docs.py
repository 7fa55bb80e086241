"""Pages made from tables in the code are as the code is."""

from __future__ import annotations

import pytest

from docs.generate import PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_pages_are_up_to_date(page):
    """`make docs` has been run since the tables changed."""
    assert page.read_text(encoding="utf-8") == PAGES[page]()
