"""Parts of projects that cases of several areas share."""

from __future__ import annotations

from textwrap import dedent

CRATE = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
"""The manifest of a crate without dependencies."""

UTF_8 = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
"""The environment in which Erlang and Elixir print as on a terminal of today."""


def code(text: str) -> str:
    """Return an indented text as a file holds it."""
    return dedent(text).lstrip("\n")
