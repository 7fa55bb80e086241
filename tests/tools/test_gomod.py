"""Packages and modules that the Go command cannot load."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.stacks import go
from otel_errcompact.extract.text import read_text
from otel_errcompact.tools import gomod
from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("text", "cause", "location"),
    [
        pytest.param(
            "api/server.go:8:2: no required module provides package github.com/go-chi/chi/v5; to add it:\n"
            "\tgo get github.com/go-chi/chi/v5",
            "no required module provides package github.com/go-chi/chi/v5",
            "api/server.go:8",
            id="missing module",
        ),
        pytest.param(
            'main.go:4:2: cannot find package "fmtx" in any of:\n\t/usr/local/go/src/fmtx (from $GOROOT)\n'
            "\t/home/ann/go/src/fmtx (from $GOPATH)",
            'cannot find package "fmtx" in any of: /usr/local/go/src/fmtx (from $GOROOT)',
            "main.go:4",
            id="GOPATH",
        ),
        pytest.param(
            "go: downloading example.com/x v1.0.0\n"
            "go: go.mod file not found in current directory or any parent directory; "
            "see 'go help modules'",
            "go.mod file not found in current directory or any parent directory; see 'go help modules'",
            "",
            id="no module",
        ),
        pytest.param(
            "go: errors parsing go.mod:\n/src/go.mod:7: unknown directive: requre",
            "errors parsing go.mod: /src/go.mod:7: unknown directive: requre",
            "",
            id="go.mod",
        ),
        pytest.param(
            "package example.com/a\n\timports example.com/b\n\timports example.com/a: import cycle not allowed",
            "import cycle not allowed: example.com/a -> example.com/b -> example.com/a",
            "",
            id="import cycle",
        ),
        pytest.param(
            "a.go:3:2: import cycle not allowed", "import cycle not allowed", "a.go:3", id="import cycle, at a place"
        ),
        pytest.param(
            "\timports example.com/b: import cycle not allowed",
            "import cycle not allowed: example.com/b",
            "",
            id="import cycle, cut off",
        ),
    ],
)
def test_what_could_not_be_loaded(text, cause, location):
    """The cause names what is missing, without the advice that follows it."""
    found = facts(text)
    assert (found.format, found.type, found.cause, str(found.location)) == ("gomod", "go", cause, location)


def test_key():
    """Another missing package is another failure, another line is not."""
    text = "a.go:8:2: package shop/{} is not in std (/usr/local/go/src/shop/x)"
    keys = [key(text.format(name).replace("8", line)) for name, line in ("a8", "a9", "b8")]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a.go:3:1: undefined: x", id="compiler"),
        pytest.param("go: downloading example.com/x v1.0.0", id="progress"),
        pytest.param("the import cycle not found in main module", id="prose"),
    ],
)
def test_not_taken(text):
    """Compilers' lines, progress and prose are of other formats."""
    assert gomod.FORMAT.read(read_text(text)) is None


def test_line_of_another_kind_before_a_cycle():
    """A cycle begins where its lines begin."""
    members = go.members_of(["found it:", "package a", "\timports b", "\timports b: import cycle not allowed"])
    assert [member.cause for member in members] == ["import cycle not allowed: b -> b"]


def test_endless_output():
    """Of very many lines the first ones are read."""
    lines = [f"a.go:{number}:2: package x/y{number} is not in std" for number in range(1_000)]
    assert len(go.members_of(lines)) == 300
