"""Errors of Julia, as its versions 1.3 to 1.11 print them."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, facts_as, format_of, key, said

read = facts_as("julia")

NO_METHOD = """\
ERROR: LoadError: MethodError: no method matching +(::Int64, ::String)

Closest candidates are:
  +(::Any, ::Any, ::Any, ::Any...)
   @ Base operators.jl:596

Stacktrace:
 [1] total(xs::Vector{Any})
   @ Main /srv/shop/cart.jl:4
 [2] main()
   @ Main /srv/shop/cart.jl:9
 [3] top-level scope
   @ /srv/shop/cart.jl:12
in expression starting at /srv/shop/cart.jl:12"""
CAUSED = """\
ERROR: LoadError: could not load the cart
Stacktrace:
 [1] error(s::String)
   @ Base ./error.jl:35
 [2] load(path::String)
   @ Main /srv/shop/cart.jl:6
 [3] top-level scope
   @ /srv/shop/cart.jl:10
in expression starting at /srv/shop/cart.jl:10

caused by: SystemError: opening file "cart.csv": No such file or directory
Stacktrace:
 [1] systemerror(p::String, errno::Int32; extrainfo::Nothing)
   @ Base ./error.jl:176
 [2] load(path::String)
   @ Main /srv/shop/cart.jl:4
 [3] top-level scope
   @ /srv/shop/cart.jl:10
in expression starting at /srv/shop/cart.jl:10"""
PRECOMPILED = """\
[ Info: Precompiling Shop [728860ae-c896-11e8-0b91-0f38ecad5046]
ERROR: LoadError: LoadError: syntax: unexpected "end"
Stacktrace:
 [1] top-level scope at C:\\Users\\ann\\Shop\\src\\cart.jl:78
 [2] include at .\\boot.jl:328 [inlined]
 [3] top-level scope at C:\\Users\\ann\\Shop\\src\\Shop.jl:80
in expression starting at C:\\Users\\ann\\Shop\\src\\cart.jl:78
in expression starting at C:\\Users\\ann\\Shop\\src\\Shop.jl:80
ERROR: LoadError: Failed to precompile Shop [728860ae] to C:\\Users\\ann\\.julia\\compiled\\v1.2\\Shop\\8Ut5K.ji.
Stacktrace:
 [1] error(::String) at .\\error.jl:33
 [2] compilecache(::Base.PkgId, ::String) at .\\loading.jl:1253
in expression starting at C:\\Users\\ann\\main.jl:2"""
IN_A_LIBRARY = """\
ERROR: MethodError: no method matching joinpath(::Nothing)
Stacktrace:
 [1] stat(::Nothing) at ./stat.jl:109
 [2] is_instantiated(::Pkg.Types.Context) at /build/usr/share/julia/stdlib/v1.3/Pkg/src/Operations.jl:83
 [3] setup(::String) at /srv/shop/setup.jl:7
 [4] top-level scope at none:1"""


def test_no_method():
    """The place is the innermost own frame, and what Julia suggests stands behind."""
    found = read(NO_METHOD)
    assert said(found) == ("MethodError", "total (/srv/shop/cart.jl:4)", "no method matching +(::Int64, ::String)")
    assert found.details[0] == "Closest candidates are:"


def test_cause():
    """What an error was caused by is the root, and the error what it was raised as."""
    found = read(CAUSED)
    cause = 'opening file "cart.csv": No such file or directory'
    assert said(found) == ("SystemError", "load (/srv/shop/cart.jl:4)", cause)
    assert found.details == ("raised as ErrorException at load (cart.jl:6): could not load the cart",)


def test_precompiling():
    """The error that stops precompiling is printed before the one that says so."""
    found = read(PRECOMPILED)
    assert said(found) == ("ErrorException", "C:\\Users\\ann\\Shop\\src\\cart.jl:78", 'syntax: unexpected "end"')
    assert found.details[0].startswith("raised as ErrorException: Failed to precompile Shop")


def test_library():
    """Frames of Julia itself tell no place, those of its libraries are where it was raised."""
    found = read(IN_A_LIBRARY)
    assert said(found) == ("MethodError", "setup (/srv/shop/setup.jl:7)", "no method matching joinpath(::Nothing)")
    assert found.details[0].startswith("raised in is_instantiated (")


def test_only_julia():
    """What is typed in has no place."""
    found = read(
        "ERROR: DomainError with -1.0:\nsqrt was called with a negative real argument\nStacktrace:\n"
        " [1] sqrt(x::Int64)\n   @ Base.Math ./math.jl:1590\n [2] top-level scope\n   @ none:1"
    )
    assert said(found) == (
        "ErrorException",
        "",
        "DomainError with -1.0: sqrt was called with a negative real argument",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ERROR: out of stock\nStacktrace:\n  at Cart.total (cart.cs:4)", id="stack of others"),
        pytest.param("Stacktrace:\n [1] total(xs)\n   @ Main cart.jl:4", id="no error"),
        pytest.param("A page on `ERROR: LoadError: x`, and below it a Stacktrace: of Julia.", id="prose"),
    ],
)
def test_not_taken(text):
    """Only an error above a stack of Julia's is one."""
    assert format_of(text) != "julia"


def test_keys():
    """Lines do not matter; the function and the message do."""
    assert key(NO_METHOD) == key(NO_METHOD.replace(":4", ":40"))
    assert key(NO_METHOD) != key(NO_METHOD.replace("total", "tax"))
    assert key(NO_METHOD) != key(NO_METHOD.replace("matching +", "matching *"))


def test_nothing_below():
    """A message without a stack is left to others."""
    assert facts("ERROR: LoadError: x\nin expression starting at a.jl:1").format != "julia"
