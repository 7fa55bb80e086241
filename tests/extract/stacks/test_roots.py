"""Whose code: configured roots decide place and key, the working directory what is shown of exceptions at hand."""

from __future__ import annotations

import subprocess
import traceback
from pathlib import Path
from typing import NoReturn

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.config import Options
from otel_errcompact.engine.ledger import Ledger
from otel_errcompact.errors import Facts, RawError
from otel_errcompact.extract import glued
from otel_errcompact.extract.cleaning.parts import Part
from otel_errcompact.extract.format import Text
from otel_errcompact.runtime.roots import ANYWHERE, CodeRoots, is_within, open_roots

SHOP = CodeRoots(("/srv/shop/",))
IN_SHOP = CodeRoots(directory="/srv/shop/")

TOOL = "def order(run):\n    run()\n"
HARNESS = "def run():\n    raise KeyError('sku')\n"

TEXT = """Traceback (most recent call last):
  File "/srv/shop/tools.py", line 2, in order
    run()
  File "/opt/harness/runner.py", line 2, in run
    raise KeyError('sku')
KeyError: 'sku'
"""


def failing() -> KeyError:
    """Return an exception that a harness outside of the workspace has raised below a tool inside it."""
    harness: dict[str, object] = {}
    tool: dict[str, object] = {}
    exec(compile(HARNESS, "/opt/harness/runner.py", "exec"), harness)
    exec(compile(TOOL, "/srv/shop/tools.py", "exec"), tool)
    try:
        tool["order"](harness["run"])  # type: ignore[operator]
    except KeyError as error:
        # Without the frame of this function, as a boundary hands it over.
        return error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
    raise AssertionError


def raised(error: ExceptionGroup[Exception]) -> ExceptionGroup[Exception]:
    try:
        raise error
    except ExceptionGroup as group:
        return group


def place(raw: RawError, roots: CodeRoots) -> str:
    return str(classify(raw, roots).facts.location)


def test_configured_roots_decide_the_place():
    """Of an exception at hand and of its traceback; without roots the path alone tells."""
    live, printed = RawError(text="", exception=failing()), RawError(text=TEXT)
    for raw in (live, printed):
        assert place(raw, ANYWHERE) == "run (/opt/harness/runner.py:2)"
        assert place(raw, SHOP) == "order (/srv/shop/tools.py:2)"
    assert classify(live, SHOP).key == classify(printed, SHOP).key
    assert classify(live, ANYWHERE).key == classify(printed, ANYWHERE).key


def test_working_directory_decides_what_is_shown():
    """The key stays that of the printed traceback, which does not say where its program ran."""
    live, printed = RawError(text="", exception=failing()), RawError(text=TEXT)
    assert place(live, IN_SHOP) == "order (/srv/shop/tools.py:2)"
    assert classify(live, IN_SHOP).key == classify(printed).key
    assert "raised in run (/opt/harness/runner.py:2)" in classify(live, IN_SHOP).facts.details
    assert place(live, CodeRoots(directory="/opt/harness/")) == "run (/opt/harness/runner.py:2)"


def test_working_directory_of_a_group():
    """The same in groups, of one failure and of several."""
    for errors in ([failing()], [failing(), failing()], [failing(), TypeError("x")]):
        group = raised(ExceptionGroup("sync", errors))
        printed = "".join(traceback.format_exception(group))
        found = classify(RawError(text="", exception=group), IN_SHOP)
        assert found.key == classify(RawError(text=printed)).key
        assert "order (" in f"{found.facts.location}{found.facts.details}"


def test_code_outside_of_all_roots():
    """Where there is nothing else, code outside of the roots is the place."""
    elsewhere = CodeRoots(("/nowhere/",))
    assert place(RawError(text=TEXT), elsewhere) == "run (/opt/harness/runner.py:2)"
    assert place(RawError(text="", exception=failing()), elsewhere) == "run (/opt/harness/runner.py:2)"
    assert place(RawError(text="", exception=failing()), CodeRoots(directory="/nowhere/")).startswith("run ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "TypeError: x is not a function\n    at run (/opt/harness/run.js:3:5)\n    at order (/srv/shop/o.js:7:2)\n",
            "order (/srv/shop/o.js:7)",
            id="JavaScript",
        ),
        pytest.param(
            "panic: no sku\n\ngoroutine 1 [running]:\nharness.Run()\n\t/opt/harness/run.go:3 +0x1\n"
            "main.order()\n\t/srv/shop/o.go:7 +0x1\n",
            "main.order (/srv/shop/o.go:7)",
            id="Go",
        ),
    ],
)
def test_stacks_of_other_languages(text, expected):
    """Their frames follow the roots, too."""
    assert place(RawError(text=text), SHOP) == expected
    assert place(RawError(text=text), ANYWHERE) != expected


@pytest.mark.parametrize(
    ("file", "within"),
    [
        ("/srv/shop/a.py", True),
        ("/srv/shopping/a.py", False),
        ("src/a.py", True),
        ("<stdin>", True),
        ("C:\\work\\a.py", False),
    ],
)
def test_within(file, within):
    """A relative path, and code without a file, may lie anywhere."""
    assert is_within(file, SHOP.configured) is within


def test_open_roots(monkeypatch, tmp_path):
    """What is configured, else the working directory, if there is one."""
    monkeypatch.chdir(tmp_path)
    assert open_roots([Path("/srv/shop/"), Path("lib")]) == CodeRoots(("/srv/shop/", f"{tmp_path.as_posix()}/lib/"))
    assert open_roots([]) == CodeRoots(directory=f"{tmp_path.as_posix()}/")

    def gone() -> NoReturn:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", gone)
    assert open_roots([]) == ANYWHERE


def test_option():
    """The ledger reads failures by the roots of its options."""
    ledger = Ledger(Options(workspace_roots=(Path("/srv/shop"),)))
    assert ledger.roots == SHOP
    observation = ledger.observe("run", RawError(text=TEXT, tool="t"))
    assert str(observation.found.facts.location) == "order (/srv/shop/tools.py:2)"


@pytest.mark.parametrize(
    "wrapper",
    [
        pytest.param("{}", id="bare"),
        pytest.param("make: Entering directory '/srv/shop'\n{}make: *** [Makefile:3: run] Error 1\n", id="make"),
        pytest.param("== lint ==\nok\n== run ==\n{}", id="script"),
    ],
)
def test_outputs_inside_outputs(wrapper):
    """Whoever repeats a traceback, its frames follow the roots."""
    assert place(RawError(text=wrapper.format(TEXT)), SHOP) == "order (/srv/shop/tools.py:2)"


def test_output_that_an_exception_repeats():
    """The output of a command that failed is read by the same roots."""
    error = subprocess.CalledProcessError(1, ["python", "tools.py"], stderr=TEXT)
    assert place(RawError(text="", exception=error), SHOP) == "order (/srv/shop/tools.py:2)"
    assert place(RawError(text="", exception=error), ANYWHERE) == "run (/opt/harness/runner.py:2)"


def test_parts_of_a_glued_output(monkeypatch):
    """Each part is read by the roots of the whole."""
    seen: list[tuple[str, ...]] = []

    def recognise(text):
        seen.append(text.roots)
        return Facts(type="error", cause="no", format="python")

    monkeypatch.setattr(glued, "recognise", recognise)
    monkeypatch.setattr(glued, "split_parts", lambda body: [Part("a", ("x",)), Part("b", ("y",))])
    glued.facts_of_parts(Text(body="x", roots=SHOP.configured))
    assert seen == [SHOP.configured, SHOP.configured]
