from __future__ import annotations

from functools import partial

from otel_errcompact.runtime.foreign import name_of, origin_of


def test_the_origin_of_an_exception_is_what_python_prints_before_it() -> None:
    """Its cause, or what was handled when it was raised, unless that was suppressed."""
    inner, outer = ValueError("inner"), KeyError("outer")
    assert origin_of(outer) == (None, False)
    outer.__context__ = inner
    assert origin_of(outer) == (inner, False)
    outer.__suppress_context__ = True
    assert origin_of(outer) == (None, True)
    outer.__cause__ = inner
    assert origin_of(outer) == (inner, True)


def test_a_callable_has_a_name_whatever_it_is() -> None:
    """Its module and its own name, also behind a partial; an object has that of its class."""

    class Pager:
        def __call__(self) -> None: ...

    here = f"{__name__}.test_a_callable_has_a_name_whatever_it_is"
    assert name_of(partial(name_of, "x")) == "otel_errcompact.runtime.foreign.name_of"
    assert name_of(lambda: None) == f"{here}.<locals>.<lambda>"
    assert name_of(Pager()) == f"{here}.<locals>.Pager"
