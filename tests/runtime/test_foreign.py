from __future__ import annotations

from otel_errcompact.runtime.foreign import origin_of


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
