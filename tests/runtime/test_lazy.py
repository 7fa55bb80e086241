from __future__ import annotations

import os
import re
import signal
import threading

import pytest

from otel_errcompact.runtime.lazy import lazy, lazy_pattern


class Square:
    def __init__(self, side: int) -> None:
        self.side = side
        self.computed = 0

    @lazy
    def area(self) -> int:
        """The square of the side."""
        self.computed += 1
        return self.side**2


def test_a_value_is_computed_once_for_each_object() -> None:
    """The second read finds it; another object has its own."""
    square = Square(3)
    assert (square.area, square.area, Square(4).area) == (9, 9, 16)
    assert square.computed == 1


def test_the_class_has_the_descriptor() -> None:
    """Whoever reads the class gets what documents it."""
    assert isinstance(Square.area, lazy)
    assert Square.area.__doc__ == "The square of the side."


@pytest.mark.programs
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_a_process_forked_while_a_thread_computes_does_not_wait_for_it() -> None:
    """`functools.cached_property` waits for ever here, before Python 3.12."""
    begun, let_go = threading.Event(), threading.Event()

    class Slow:
        @lazy
        def value(self) -> int:
            if os.getpid() == parent:
                begun.set()
                let_go.wait(60)
            return 7

    parent = os.getpid()
    slow = Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert begun.wait(60)
    child = os.fork()
    if not child:
        signal.alarm(30)
        os._exit(Slow().value)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        let_go.set()
        thread.join()


def test_a_lazy_pattern_is_compiled_at_its_first_use() -> None:
    """It then has all that a compiled pattern has."""
    sources: list[str] = []

    def source() -> str:
        sources.append(r"(?P<word>[a-z]+)")
        return sources[-1]

    pattern = lazy_pattern(source, re.IGNORECASE)
    assert sources == []
    assert pattern.sub("x", "One two") == "x x"
    assert [found[0] for found in pattern.finditer("One two")] == ["One", "two"]
    assert len(sources) == 1
    assert pattern.groupindex == {"word": 1}


def test_a_lazy_pattern_does_not_wait_for_a_wrong_expression() -> None:
    """A wrong expression raises where it is first used."""
    pattern = lazy_pattern("(")
    with pytest.raises(re.error):
        pattern.search("x")


def test_a_lazy_pattern_does_what_a_compiled_one_does() -> None:
    """Each method and attribute, as the first use and as a later one."""
    compiled = re.compile(r"(?P<word>[a-z]+)|-", re.IGNORECASE)
    for name in ("pattern", "flags", "groups", "groupindex"):
        pattern = lazy_pattern(compiled.pattern, re.IGNORECASE)
        assert getattr(pattern, name) == getattr(pattern, name) == getattr(compiled, name)
    for name in ("search", "match", "fullmatch"):
        pattern = lazy_pattern(compiled.pattern, re.IGNORECASE)
        for _ in range(2):
            assert str(getattr(pattern, name)("One")) == str(getattr(compiled, name)("One"))
    assert str(list(lazy_pattern("b").finditer("abb"))) == str(list(re.compile("b").finditer("abb")))
    for name in ("sub", "subn"):
        assert getattr(lazy_pattern("b+"), name)("x", "abbc") == getattr(re.compile("b+"), name)("x", "abbc")
    for name in ("split", "findall"):
        assert getattr(lazy_pattern("b+"), name)("abbc") == getattr(re.compile("b+"), name)("abbc")


def test_a_lazy_pattern_has_nothing_else() -> None:
    """What looks for special methods compiles nothing."""
    pattern = lazy_pattern("(")
    assert not hasattr(pattern, "__wrapped__")
    assert not hasattr(pattern, "scan")


def test_threads_that_meet_at_the_first_use() -> None:
    """All of them match."""
    for _ in range(50):
        pattern = lazy_pattern(r"(?:a|b){1,50}" * 20)
        barrier = threading.Barrier(8)
        found: list[bool] = []

        def use(pattern=pattern, barrier=barrier, found=found) -> None:
            barrier.wait()
            found.append(pattern.fullmatch("ab" * 20) is not None and pattern.search("c") is None)

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [True] * 8
