"""Outputs that stand in one text are told apart by what stands before them."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.cleaning.parts import MAX_PARTS, split_parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("$ mypy src\na\n$ node x.mjs\nb", ["mypy src", "node x.mjs"], id="commands"),
        pytest.param("set up\n$ mypy src\na\n$ node x.mjs\nb", ["", "mypy src", "node x.mjs"], id="lines before"),
        pytest.param(
            "> shop@1.0.0 lint\n> eslint .\n\na\n\n> shop@1.0.0 test /srv\n> jest\n\nb",
            ["shop@1.0.0 lint", "shop@1.0.0 test"],
            id="scripts of npm",
        ),
        pytest.param("==> lint\na\n==> test <==\nb", ["lint", "test"], id="stages"),
        pytest.param("$ true\n$ mypy src\na", ["mypy src"], id="one without output"),
    ],
)
def test_parts(text, names):
    """A line before the output of each program names it."""
    assert [part.name for part in split_parts(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a\nb", id="no headers"),
        pytest.param("$ mypy src\na", id="one command"),
        pytest.param("> a quotation\n> of two lines", id="quotation"),
        pytest.param("$ 5 are missing\n$ 7 were paid", id="sums of money"),
        pytest.param("".join(f"$ run {number}\nx\n" for number in range(MAX_PARTS + 1)), id="too many"),
    ],
)
def test_other_texts_are_one(text):
    """A text of one output, or of very many, is read as one."""
    assert split_parts(text) == ()


JOBS = """\
\u2503  fmt \u276f

\u2503  vet \u276f

a
exit status 1
\u2503  words \u276f

b
exit status 1
  {rule}
c"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            "keys....(no files to check)Skipped\nlint....Failed\n- hook id: lint\n- exit code: 1\na\nfmt....Passed",
            [("keys", [], False), ("lint", ["a"], True), ("fmt", [], False)],
            id="pre-commit",
        ),
        pytest.param(
            JOBS.format(rule="\u2500" * 12),
            [("fmt", [], False), ("vet", ["a"], True), ("words", ["b"], True)],
            id="lefthook",
        ),
    ],
)
def test_hooks(text, told):
    """Who ran a hook says whether it failed; what it says of the hook is no output."""
    parts = split_parts(text)
    assert [(part.name, [line for line in part.lines if line], part.has_failed) for part in parts] == told


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("lint....Failed\na", id="one hook"),
        pytest.param("\u2503  fmt \u276f\n\n\u2503  vet \u276f\n\na", id="none failed"),
        pytest.param("Failed\n.Failed\nit.Failed", id="no hooks"),
    ],
)
def test_no_hooks_that_failed(text):
    """A text of one hook, or of none that failed, is read as one."""
    assert split_parts(text) == ()
