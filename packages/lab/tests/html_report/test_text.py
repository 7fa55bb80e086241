"""Untrusted text as HTML that shows it whole and can be turned back exactly."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact_lab.html_report.text import mark_special


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a < b & c > d \"e\" 'f'", "a &lt; b &amp; c &gt; d &#34;e&#34; &#39;f&#39;", id="markup"),
        pytest.param("</script>", "&lt;/script&gt;", id="end of a script"),
        pytest.param("a\nb\tc", "a\nb\tc", id="lines and tabs stay"),
        pytest.param("a\r\nb", "a&#13;\nb", id="CRLF, of which a parser would make LF"),
        pytest.param("50 %\r100 %", '50 %<i data-c="d">\\x0d</i>100 %', id="carriage return"),
        pytest.param("\x1b[31mred", '<i data-c="1b">\\x1b</i>[31mred', id="escape"),
        pytest.param("\0\0\0", '<i data-c="0" data-n="3">\\x00 x3</i>', id="NUL, three in a row"),
        pytest.param("\ud800", '<i data-c="d800">\\ud800</i>', id="half of a character"),
        pytest.param("\u202egnp.exe", '<i data-c="202e">\\u202e</i>gnp.exe', id="text turned around"),
        pytest.param("\N{COLLISION SYMBOL} שלום", "\N{COLLISION SYMBOL} שלום", id="other scripts stay"),
    ],
)
def test_what_would_be_lost_or_deceive_is_seen(text: str, shown: str) -> None:
    """As a mark with its number; everything else stands as it is."""
    assert mark_special(text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_every_text_can_be_got_back(text: str) -> None:
    """As the page's script does it; and what is written is UTF-8 that a parser leaves alone."""
    shown = str(mark_special(text))
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", shown) is None
    marks = re.split(r'<i data-c="([0-9a-f]+)"(?: data-n="([0-9]+)")?>[^<]*</i>', shown)
    back = "".join(
        html.unescape(plain) + (chr(int(code, 16)) * int(times or 1) if code else "")
        for plain, code, times in zip(marks[::3], [*marks[1::3], ""], [*marks[2::3], ""], strict=True)
    )
    assert back == text
