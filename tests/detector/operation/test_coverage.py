"""Which successes cover which operations."""

from __future__ import annotations

import pytest

from otel_errcompact.detector.operation import (
    covers,
    operation_of,
)


@pytest.mark.parametrize(
    ("wider", "narrower"),
    [
        ("pytest", "pytest tests/a.py"),
        ("pytest -q -x --tb=short .", "pytest tests/a.py::test_x"),
        ("pytest", "pytest -k foo"),
        ("pytest", "pytest --lf"),
        ("pytest tests", "pytest tests/a.py"),
        ("pytest tests/a.py", "pytest tests/a.py::test_x"),
        ("pytest tests/a.py::test_x", "pytest tests/a.py::test_x[1]"),
        ("python -m pytest", "python -m pytest tests/a.py"),
        ("cd app && pytest", "cd app && pytest tests/a.py"),
        ("go test ./...", "go test ./pkg"),
        ("go test ./pkg/...", "go test ./pkg/sub -run TestX"),
        ("go vet ./...", "go vet"),
        ("cargo test", "cargo test name"),
        ("npx jest", "npx jest a.test.js -t adds"),
        ("npx vitest run", "npx vitest run a.test.ts"),
        ("ruff check .", "ruff check a.py"),
        ("mypy src", "mypy src/a.py"),
        ("rspec", "rspec spec/a_spec.rb"),
    ],
)
def test_a_wider_success_covers_narrower_failures(wider: str, narrower: str):
    """
    What has passed over everything, or over a folder, has passed over what lies within, and not the other way.
    """
    wide, narrow = operation_of("bash", wider), operation_of("bash", narrower)
    assert covers(wide, narrow)
    assert covers(wide, wide)
    assert not covers(narrow, wide)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest a.py", "pytest b.py"),
        ("pytest tests", "pytest tests2/a.py"),
        ("pytest -k foo", "pytest tests/a.py"),
        ("pytest -m fast", "pytest"),
        ("pytest --lf", "pytest"),
        ("pytest", "pytest --runslow"),
        ("pytest", "pytest -W error"),
        ("pytest --runslow", "pytest tests/a.py"),
        ("pytest", "pytest /elsewhere/a.py"),
        ("pytest", "pytest ../b/a.py"),
        ("pytest tests", "pytest tests/../b.py"),
        ("cd web && pytest", "cd api && pytest tests/a.py"),
        ("pytest; ruff check .", "pytest tests/a.py"),
        ("go test", "go test ./pkg"),
        ("go test ./pkg", "go test ./pkg/sub"),
        ("go test -short ./...", "go test ./pkg"),
        ("cargo test", "cargo test --features x"),
        ("mypy", "mypy src/a.py"),
        ("make test", "make lint"),
        ("mise run lint", "mise run test"),
        ("npm test", "npm test -- a.test.js"),
        ("ls", "ls src"),
    ],
)
def test_what_is_not_certain_covers_nothing(one: str, other: str):
    """
    A success that may have left something out is no success of it.
    """
    assert not covers(operation_of("bash", one), operation_of("bash", other))


def test_two_files_cover_each_of_them():
    """
    What passes for both passes for one, and not the reverse.
    """
    both, one = (operation_of("bash", {"command": f"pytest {files}"}) for files in ("a.py b.py", "a.py"))

    assert covers(both, one)
    assert not covers(one, both)
