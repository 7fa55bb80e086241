"""Failures of .NET, which is written here from its documentation; records of Mono are in the corpus."""

from __future__ import annotations

import pytest

from otel_errcompact.tools.dotnet import function_of
from tests.extract.reading import facts, key

INNER = """\
Unhandled exception. System.InvalidOperationException: cannot charge bob
 ---> System.Collections.Generic.KeyNotFoundException: The given key 'bob' was not present in the dictionary.
   at System.Collections.Generic.Dictionary`2.get_Item(TKey key)
   at Acme.Ledger.Balance(String account) in /src/Ledger.cs:line 12
   --- End of inner exception stack trace ---
   at Acme.Program.<Main>$(String[] args) in /src/Program.cs:line 26
"""


def test_inner():
    """The innermost exception is the root cause."""
    found = facts(INNER)
    assert (found.type, str(found.location), found.wrappers, found.format) == (
        "KeyNotFoundException",
        "Ledger.Balance (/src/Ledger.cs:12)",
        ("InvalidOperationException",),
        "dotnet",
    )
    assert found.details == ("raised as InvalidOperationException at Program.Main (Program.cs:26): cannot charge bob",)


def test_aggregate():
    """An aggregate whose exceptions are all one failure is that failure."""
    one = "System.TimeoutException: no answer from db\n   at Acme.Db.Open() in /src/Db.cs:line 3\n"
    found = facts(
        f"System.AggregateException: One or more errors occurred. (no answer from db) (no answer from db)\n ---> {one}"
        "   --- End of inner exception stack trace ---\n   at Acme.Program.Main() in /src/Program.cs:line 9\n"
        f" ---> (Inner Exception #1) {one.rstrip()}<---\n\n ---> (Inner Exception #2) nothing\n"
    )
    assert (found.type, str(found.location), found.cause) == (
        "TimeoutException",
        "Db.Open (/src/Db.cs:3)",
        "no answer from db",
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("Acme.Shop.Cart.Total", "Cart.Total", id="method"),
        pytest.param("Acme.Shop.Cart..ctor", "Cart.ctor", id="constructor"),
        pytest.param("Acme.Shop.Cart.<LoadAsync>d__4.MoveNext", "Cart.LoadAsync", id="async"),
        pytest.param("Acme.Cart.<>c__DisplayClass1_0.<Total>b__0", "Cart.Total", id="lambda"),
        pytest.param("Program.<Main>$", "Program.Main", id="top level"),
        pytest.param("Program.<<Main>$>g__Load|0_0", "Program.Load", id="local function"),
        pytest.param("Acme.Box`1[T].Open", "Box.Open", id="generic"),
        pytest.param("run", "run", id="bare"),
    ],
)
def test_names_of_functions(name, shown):
    """A method is named as its author would, without what the compiler made up."""
    assert function_of(name) == shown


def test_message_of_several_lines():
    """Lines before the first frame belong to the message, exception names in them included."""
    found = facts(
        "Acme.ImportException: 2 rows failed\n  System.FormatException: row 1\n"
        "   at Acme.Import.Run() in C:\\src\\Import.cs:line 7\n   at Vendor.Host.Go()\n   at (odd\nbye\n"
    )
    assert (found.type, str(found.location), found.cause) == (
        "Acme.ImportException",
        "Import.Run (C:\\src\\Import.cs:7)",
        "2 rows failed",
    )


def test_inner_in_one_line():
    """The .NET Framework and Mono print inner exceptions behind arrows in the first line."""
    found = facts(
        "System.Exception: a ---> System.Exception: b ---> Acme.Oops: c\n---> and more\n"
        "  at Acme.X.Y () in /src/X.cs:3 \n"
    )
    assert (found.type, found.cause, found.wrappers) == ("Acme.Oops", "c", ("Exception", "Exception"))


def test_package_with_sources():
    """Frames of packages, whose sources were on a build server, are not the user's own."""
    found = facts(
        "Vendor.HttpException: 503\n   at Vendor.Client.Get() in /_/src/Client.cs:line 7\n"
        "   at Acme.Sync.Run()\n   at Acme.Program.Main() in /src/Program.cs:line 3\n"
    )
    assert str(found.location) == "Program.Main (/src/Program.cs:3)"
    assert found.details == ("raised in Client.Get",)


TESTS = """\
  Determining projects to restore...
Starting test execution, please wait...
[xUnit.net 00:00:00.50]     Acme.Tests.CartTests.AddsUp [FAIL]
  Failed Acme.Tests.CartTests.AddsUp [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 5
Actual:   4
  Stack Trace:
     at Acme.Tests.CartTests.AddsUp() in /src/CartTests.cs:line 12
  Standard Output Messages:
 hello
  Failed Acme.Tests.CartTests.Loads(name: "a.json") [3 ms]
  Error Message:
   System.IO.FileNotFoundException : no a.json
  Stack Trace:
     at System.IO.File.Open(String path)
   at Acme.Store.Load(String name) in /src/Store.cs:line 8

Failed!  - Failed:     2, Passed:     2, Skipped:     0, Total:     4, Duration: 20 ms - Tests.dll (net8.0)
"""


def test_dotnet_test():
    """Failed tests are members: expectations by their own place, exceptions by the place that raised them."""
    found = facts(TESTS)
    assert (found.type, str(found.location), found.cause, found.tally) == (
        "AssertionError",
        "CartTests.AddsUp (/src/CartTests.cs:12)",
        "Assert.Equal() Failure: Values differ Expected: 5 Actual:   4",
        "1 of 2 tests",
    )
    assert (
        'FileNotFoundException at Store.Load (/src/Store.cs:8) in CartTests.Loads(name: "a.json"): no a.json'
        in found.details
    )


def test_nunit():
    """NUnit's console numbers failed tests."""
    found = facts(
        "1) Failed : Acme.CartTests.AddsUp\n  Expected: 5\n  But was:  4\n"
        "   at Acme.CartTests.AddsUp() in /src/T.cs:line 3\n\n"
        "2) Error : Acme.CartTests.Empty\n\nof :line \n"
    )
    assert (found.cause, found.tally) == ("Expected: 5 But was:  4", "1 of 2 tests")


def test_build():
    """Errors of compiler and package manager, printed twice, count once."""
    found = facts(
        "/src/Cart.cs(12,5): error CS0103: The name 'x' does not exist [/src/Shop.csproj]\n"
        "/src/Shop.csproj : error NU1101: Unable to find package Acme.Tax. [/src/Shop.sln]\n"
        "/src/Cart.cs(9,5): warning CS0168: never used\n\nBuild FAILED.\n\n"
        "/src/Cart.cs(12,5): error CS0103: The name 'x' does not exist [/src/Shop.csproj]\n    0 Warning(s)\n"
        "    2 Error(s)\n"
    )
    assert (found.type, str(found.location), found.cause, found.tally) == (
        "CS0103",
        "/src/Cart.cs:12",
        "The name 'x' does not exist",
        "1 of 2 errors",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("app.ts(3,1): error TS2345: no, says a.cs:1", id="typescript"),
        pytest.param("System.Exception: in Foo.cs:line 3 of the docs", id="no frames"),
        pytest.param("Unhandled rejection of Foo", id="prose"),
        pytest.param("make: error CS1: x.cs:1", id="no place"),
    ],
)
def test_not_taken(text):
    """Other tools, and texts without frames, are left to others."""
    assert facts(text).format != "dotnet"


def test_keys():
    """Lines and durations do not matter; the key that is missing does."""
    assert key(INNER) == key(INNER.replace("line 12", "line 19"))
    assert key(INNER) != key(INNER.replace("'bob'", "'eve'"))
    assert key(TESTS) == key(TESTS.replace("12 ms", "99 ms"))
