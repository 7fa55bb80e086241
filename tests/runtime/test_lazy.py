from __future__ import annotations

import os
import signal
import threading

import pytest

from otel_errcompact.runtime.lazy import lazy


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
