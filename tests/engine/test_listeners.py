from __future__ import annotations

from otel_errcompact.engine.listeners import Listener, Listeners
from otel_errcompact.runtime.guard import Guard


def test_a_listener_is_told_until_it_is_removed() -> None:
    """The same one twice is told twice."""
    listeners, one = Listeners(Guard()), Listener()
    listeners.add(one)
    listeners.add(one)
    assert len(listeners) == 2
    assert not listeners.want_successes
    listeners.remove(one)
    assert len(listeners) == 0
