from __future__ import annotations

from otel_errcompact.engine.events import Observation, Repeated
from otel_errcompact.engine.listeners import Listener, Listeners
from otel_errcompact.runtime.guard import Guard


def test_a_listener_is_told_until_it_is_removed() -> None:
    """The same one twice is told twice; of a kind that it does not name it hears nothing."""
    heard: list[Repeated] = []
    listeners, one, event = Listeners(Guard()), Listener({Repeated: heard.append}), Repeated(run_id="r", tool="db")
    listeners.add(one)
    listeners.add(one)
    listeners.notify(event)
    assert (len(listeners), heard) == (2, [event, event])
    assert (listeners.want(Repeated), listeners.want(Observation)) == (True, False)
    listeners.remove(one)
    listeners.notify(event)
    assert (len(listeners), len(heard), listeners.want(Repeated)) == (0, 2, False)
