"""Where a text names no file, the only one that the call names is the place."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import Facts, Location, RawError
from otel_errcompact.extract.arguments import MAX_ARGUMENTS, file_in_call

MISSING = "File does not exist."
ENOENT = "[Errno 2] No such file or directory"


def place(text: str, arguments: object) -> str:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return str(classify(RawError(text=text, tool="read", arguments=written)).facts.location)


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        pytest.param(MISSING, {"file_path": "src/cart.py"}, "src/cart.py", id="named"),
        pytest.param(MISSING, {"filePath": "src/cart.py", "limit": 3}, "src/cart.py", id="other spelling"),
        pytest.param(MISSING, {"path": "my notes.txt", "cwd": "/srv"}, "my notes.txt", id="file, not folder"),
        pytest.param(ENOENT, {"cwd": "/srv/shop"}, "/srv/shop", id="folder"),
        pytest.param(ENOENT, {"path": "a.txt", "cwd": "/srv"}, "", id="file or folder"),
        pytest.param(ENOENT, {"source": "data/in.csv"}, "data/in.csv", id="looks like a path"),
        pytest.param(ENOENT, {"source": "data/in.csv", "target": "data/out.csv"}, "", id="two paths"),
        pytest.param(ENOENT, {"command": "cat a.txt", "cwd": "/srv"}, "", id="command"),
        pytest.param(ENOENT, {"query": "apples"}, "", id="no path"),
        pytest.param(ENOENT, {"path": "https://x.example/a.txt"}, "", id="address"),
        pytest.param(ENOENT, {"path": ["a.txt"]}, "", id="list"),
        pytest.param(ENOENT, {"path": "src/**/*.py"}, "", id="pattern"),
        pytest.param(ENOENT, {"path": ""}, "", id="empty"),
        pytest.param(ENOENT, '{"path": "a.txt"', "", id="cut"),
        pytest.param(ENOENT, "a.txt", "", id="text"),
        pytest.param("Price must be positive", {"path": "a.txt"}, "", id="not about a file"),
        pytest.param("File does not exist: b.txt", {"path": "a.txt"}, "", id="text names one"),
    ],
)
def test_file_of_a_call(text, arguments, expected):
    """Only what is sure is told."""
    assert place(text, arguments) == expected


def test_key_of_a_file_in_the_arguments():
    """Another file is another failure, as where the text names it; its folder is not."""
    calls = [json.dumps({"path": path}) for path in ("a.txt", "b.txt", "x/a.txt")]
    one, other, elsewhere = (classify(RawError(text=MISSING, arguments=call)).key for call in calls)
    assert one == elsewhere != other


def test_bounds():
    """A place of the text comes first, and huge arguments are not parsed."""
    facts = Facts(type="error", cause=MISSING)
    huge = json.dumps({"path": "a.txt", "x": "y" * MAX_ARGUMENTS})
    assert file_in_call(facts, huge) == ""
    placed = Facts(type="error", cause=MISSING, location=Location(file="b.txt"))
    assert file_in_call(placed, '{"path": "a.txt"}') == ""
