"""Pages made from tables in the code are as the code is."""

from __future__ import annotations

import pytest

from docs.generate import pages


@pytest.mark.parametrize("page", pages().items(), ids=lambda page: page[0].name)
def test_generated_pages_are_up_to_date(page):
    """`make docs` has been run since the tables changed."""
    path, content = page
    assert path.read_text(encoding="utf-8") == content
