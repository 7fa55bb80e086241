"""A record of Windows PowerShell goes, whatever language its console speaks; what a program said in it stays."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.cleaning.console import strip_console
from tests.clock import costs_little
from tests.extract.reading import facts

ABOUT = "    + CategoryInfo          : NotSpecified: (x:String) [], RemoteException\n"
ENDS = "    + FullyQualifiedErrorId : NativeCommandError\n \n"
RECORD = f"At line:1 char:1\n+ tool a\n+ ~~~~~~\n{ABOUT}{ENDS}"


@pytest.mark.parametrize(
    "place",
    [
        "At line:1 char:1", "In Zeile:1 Zeichen:1", "Au caractère Ligne:1 : 1", "En línea: 1 Carácter: 56",
        "строка:1 знак:1", "所在位置 行:1 字符: 1", "At C:\\work\\build.ps1:12 char:5",
    ],
)  # fmt: skip
def test_languages(place):
    """The position is known by its place in the record, not by its words."""
    text = f"tool : error: no such file\n{place}\n+ tool a\n+ ~~~~~~\n{ABOUT}{ENDS}second line\n"
    assert strip_console(text) == "error: no such file\nsecond line\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"built\ntool.exe : a: b\r\n{RECORD}rest", "built\na: b\nrest", id="behind other output"),
        pytest.param(f"docker : no tty\n{ABOUT}{ENDS.rstrip()}", "no tty\n", id="without a position"),
        pytest.param(f"a : b\n{RECORD}c\n{RECORD}d", "b\nc\nd", id="two records"),
        pytest.param(
            f"a : b\n{RECORD}System.Management.Automation.RemoteException\nd", "b\n\nd", id="an empty line of output"
        ),
        pytest.param("prose of    + CategoryInfo : x", "prose of    + CategoryInfo : x", id="quoted"),
    ],
)
def test_records(text, expected):
    """Several records, and what stands beside them."""
    assert strip_console(text) == expected


def test_powershell_own_error_stays():
    """Its type and place are read from the record."""
    text = (
        "Get-Item : Pfad nicht vorhanden.\nIn C:\\work\\a.ps1:12 Zeichen:5\n+     Get-Item C:\\nope\n"
        "    + CategoryInfo          : ObjectNotFound: (C:\\nope:String) [Get-Item], ItemNotFoundException\n"
        "    + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetItemCommand\n"
    )
    assert strip_console(text) == text
    found = facts(text)
    assert (found.type, str(found.location), found.cause) == (
        "PathNotFound",
        "C:\\work\\a.ps1:12",
        "Get-Item : Pfad nicht vorhanden.",
    )


def test_lines_of_others_stay():
    """Without a record of a program nothing is joined, however wide its lines are."""
    text = f"{'word ' * 16}\n{'word ' * 16}\nx : y\n    + CategoryInfo : ObjectNotFound\n"
    assert strip_console(text) == text


def test_narrow_console():
    """The record itself tells the width; pieces of a word end where the console does, words leave no room for more."""
    narrow = (
        'node.exe : FAIL src/__\ntests__/validation.tes\nt.ts\nAt line:1 char:1\n+ & "C:\\Program Files\\\n'
        'nodejs/node.exe" \n"C:\\Program \nFiles\\nodejs/node_mo \n...\n+ ~~~~~~~~~~~~~~~~~~~~\n~~~~~\n'
        "    + CategoryInfo    \n"
        "          : NotSpeci  \n  fied: (FAIL:String  \n) [], RemoteExcep    \ntion\n    + FullyQualifiedE \n"
        "   rorId : NativeCo   \n  mmandError\n \n  Test suite failed \nto run\n"
    )
    assert strip_console(narrow) == "FAIL src/__tests__/validation.test.ts\n  Test suite failed to run\n"


def test_wide_console():
    """Lines that end with a space show the width; one that has room for the next word ends where it ended."""
    place = f"C:\\shop\\{'a' * 60}\\Order.java:47: error: cannot find "
    text = f".\\gradlew : {place[12:]}\nsymbol\n{RECORD}    total.addAll(x); \n  symbol: addAll\n{place}\nsymbol\n"
    assert strip_console(text) == f"{place[12:]}symbol\n    total.addAll(x); \n  symbol: addAll\n{place}symbol\n"


def test_compiler_inside():
    """The format of the program reads what is inside."""
    found = facts(
        "cargo : error: could not find `Cargo.toml` in `C:\\work` or any parent directory\n"
        f"In Zeile:1 Zeichen:1\n+ cargo build 2>&1\n+ ~~~~~~~~~~~\n{ABOUT}{ENDS}"
    )
    assert (found.format, found.type) == ("cargo", "ManifestError")


@pytest.mark.parametrize("piece", ["a : b\n", "x:1\n+ y\n", ABOUT, ENDS, "+ ~\n", "a : " + "b" * 3000 + "\n"])
def test_hostile(piece):
    """No repetition costs more than its length."""
    text = ABOUT + piece * (60_000 // len(piece))
    assert costs_little(lambda: strip_console(text))
