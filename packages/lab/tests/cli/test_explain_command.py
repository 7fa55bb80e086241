"""`errcompact explain`: one raw error in, why it was read as it was out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from otel_errcompact_lab.explanation import explain

if TYPE_CHECKING:
    from pathlib import Path

    from packages.lab.tests.cli.conftest import Errcompact

TEXT = "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 5432)\n"
SHOWN = """\
Failure   failure                   declared: exit code 1
          kind                      transient, for 'connection refused'
Came off  blanks around             76 -> 75 characters
Read by   returned nothing          harness (any text), testrunners ('ail'), infra ('rror: '), apt
                                    ('rror: '), database ('rror'), llm (any text), http (any text),
                                    shell (any text), findings (':')
          took 1 line               plain (any text)
Facts     type                      ConnectionRefusedError
                                    line 1; first returned by format plain
          location                  none
          cause                     [Errno 111] Connect call failed ('127.0.0.1', 5432)
                                    line 1; first returned by format plain
          details                   exit code 1
                                    in no line in these words; first returned by format plain
Not read  nothing                   each line stands in what the agent reads
Template  masked                    [Errno 111] Connect call failed ('<ip>', 5432)
          ip                        127.0.0.1', 5432 -> <ip>', 5432
Key       the hash of these         9b6b24527a9b4d1a
"""


def test_the_page_says_what_was_made_of_it(errcompact: Errcompact) -> None:
    """From the verdict to the hint, and then what the agent reads."""
    outcome = errcompact("explain", "-", "--tool", "bash", "--exit-code", "1", stdin=TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(SHOWN)
    assert "\nHint      for 'Errno 111'           nothing accepts connections there" in outcome.out
    assert outcome.out.endswith(f"\n\nThe agent reads\n{TEXT.strip()} #{explain(TEXT).key[:4]} (exit code 1)\n")


def test_no_line_is_wider_than_a_page(errcompact: Errcompact) -> None:
    """Long causes are wrapped below each other, and no line ends with blanks."""
    text = "ValueError: " + "a long cause of many words " * 12
    page = errcompact("explain", stdin=text).out.partition("\nThe agent")[0].splitlines()
    assert max(map(len, page)) <= 100
    assert [line for line in page if line != line.rstrip()] == []


def test_json_has_all_of_it(errcompact: Errcompact) -> None:
    """Under the names of the fields in process."""
    found = json.loads(errcompact("explain", "--json", "--arguments", "python a.py", stdin=TEXT).out)
    assert (found["key"], found["format"]) == (explain(TEXT).key, "plain")
    assert found["asked"][-1] == {"format": "plain", "inside": "", "markers": [], "lines": 1, "took": True}


def test_what_cannot_be_read_is_named(errcompact: Errcompact, tmp_path: Path) -> None:
    """A missing file, an empty one, and one that is no text; the exit status says that nothing was read."""
    (tmp_path / "empty").write_text("\n", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"a\0b")
    for name, problem in (
        ("missing", "cannot be read (No such file or directory); check the path and its permissions"),
        ("empty", "is empty; a raw error is expected, or an exit code with --exit-code"),
        ("binary", "is binary or UTF-16, and is skipped; a raw error is expected as UTF-8 text"),
    ):
        outcome = errcompact("explain", tmp_path / name)
        assert (outcome.code, outcome.out, outcome.err) == (1, "", f"errcompact: {tmp_path / name}: {problem}\n")


def test_what_comes_out_changes_no_terminal(errcompact: Errcompact) -> None:
    """Control and bidirectional characters of a raw error never reach the screen."""
    out = errcompact("explain", stdin="ValueError: \x1b[31mred\x1b[0m \x07 \u202egnp.exe").out
    assert not set(out) & set("\x1b\x07\u202e")
