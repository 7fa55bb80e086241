"""A hook that runs several programs tells of all that failed."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import RawError

MYPY = 'src/a.py:3: error: Incompatible return value type (got "str", expected "int")  [return-value]'
NODE = "file:///srv/x.mjs:3\n  foo();\n  ^\n\nReferenceError: foo is not defined\n    at file:///srv/x.mjs:3:3"
LINT = "internal/x.go:12:3: Error return value of `f.Close` is not checked (errcheck)\n1 issues:\n* errcheck: 1"
CLEAN = "Success: no issues found in 3 source files"


def found(text: str):
    return classify(RawError(text=text))


def lines_of(prefix: str, text: str) -> str:
    return "\n".join(f"{prefix}{line}".rstrip() for line in text.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"$ mypy src\n{MYPY}\n$ node x.mjs\n{NODE}\n$ golangci-lint run\n{LINT}", id="commands"),
        pytest.param(
            "\n".join((lines_of("[lint:py] ", MYPY), lines_of("[lint:js] ", NODE), lines_of("[lint:go] ", LINT))),
            id="prefixes",
        ),
        pytest.param(
            f"==> py\n{MYPY}\n==> js\n{NODE}\n==> go\n{LINT}\n==> ruff\nAll checks passed!\n==> docs\n{CLEAN}",
            id="stages",
        ),
    ],
)
def test_all_causes_are_named(text):
    """The first program that failed gives type and cause, the others a line each; what succeeded gives none."""
    facts = found(text).facts
    told = "\n".join(facts.details)
    assert (facts.type, str(facts.location), facts.tally) == ("return-value", "src/a.py:3", "1 of 3 programs")
    assert "ReferenceError at /srv/x.mjs:3" in told
    assert "errcheck at internal/x.go:12" in told
    assert "passed" not in told
    assert "Success" not in told


def test_one_failure_among_others_is_that_failure():
    """Programs that succeeded beside it change nothing; who ran it is a detail."""
    glued = found(f"$ ruff check\nAll checks passed!\n$ mypy src\n{CLEAN}\n$ node x.mjs\n{NODE}")
    assert glued.key == found(NODE).key
    assert glued.facts.details[-1] == "in node x.mjs"


def test_lines_of_tasks_that_ran_at_once_are_sorted():
    """The lines of each task stand together before they are read."""
    pairs = zip(NODE.split("\n"), [CLEAN] * 6, strict=True)
    text = "\n".join(f"[lint:js] {one}\n[lint:py] {other}" for one, other in pairs)
    assert found(text).key == found(NODE).key


def test_a_failure_before_the_first_command_counts():
    """What a script says before it runs anything may be what failed."""
    assert found(f"{NODE}\n$ true\n$ ruff check\nAll checks passed!").key == found(NODE).key


def test_nothing_failed_by_its_own_words():
    """Where no output tells of a failure, the text is read as one."""
    assert found(f"$ mypy src\n{CLEAN}\n$ ruff check\n\n$ cat plan\nsomething is here").facts.tally == ""


def test_the_key_does_not_follow_the_order():
    """Hooks run in any order."""
    assert found(f"$ a\n{MYPY}\n$ b\n{NODE}").key == found(f"$ b\n{NODE}\n$ a\n{MYPY}").key


def test_a_warning_is_no_cause_where_another_program_failed():
    """What a dependency warns of before the failure stands behind it, and changes no class."""
    warned = "vendor/lib.c:16:5: warning: unused variable 'size' [-Wunused-variable]"
    glued = found(f"==> vendor\nCompiling 42 files\n{warned}\n==> shop\n{NODE}")
    assert glued.key == found(NODE).key
    assert glued.facts.details[-1] == "only a warning at vendor/lib.c:16: unused variable 'size'"


def test_warnings_alone_are_the_cause():
    """A program that only warned is what failed the hook where no other did."""
    warned = "vendor/lib.c:16:5: warning: unused variable 'size' [-Wunused-variable]"
    assert found(f"==> vendor\n{warned}\n==> shop\n{CLEAN}").facts.cause == "unused variable 'size'"


HOOKS = f"""\
format...................................................................Failed
- hook id: fmt
- files were modified by this hook

reformatted src/cart.py

keys.....................................................................Passed
silent...................................................................Failed
- hook id: silent
- exit code: 2

rates....................................................................Failed
- hook id: rates
- exit code: 2

docs/rates.md has no rate of 19 %

types....................................................................Failed
- hook id: types
- exit code: 1

{MYPY}
"""


def test_each_hook_that_failed_is_named_first():
    """The hooks that have to pass stand before the details of any; of each there is a cause."""
    facts = found(HOOKS).facts
    told = "\n".join(facts.details)
    assert (facts.type, facts.cause) == ("HookFailed", "reformatted src/cart.py")
    assert facts.tally == "4 hooks: format, silent, rates, types"
    assert "HookFailed at silent: failed" in told
    assert "docs/rates.md has no rate of 19 %" in told
    assert "return-value at src/a.py:3 in types" in told
    assert "keys" not in told


def test_one_hook_that_failed_is_that_failure():
    """A hook that passed beside it changes nothing."""
    facts = found(f"keys.....Passed\ntypes....Failed\n- hook id: types\n- exit code: 1\n\n{MYPY}").facts
    assert (facts.type, facts.tally) == ("return-value", "")
