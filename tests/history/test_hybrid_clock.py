from __future__ import annotations

import threading

from otel_errcompact.history.stores.hybrid_clock import HybridClock


def test_ticks_follow_the_time_of_day() -> None:
    """In microseconds, so that a page in a browser can hold them exactly."""
    now = 1_800_000_000_000_000_000
    assert HybridClock(lambda: now).next_tick() == 1_800_000_000_000_000 < 2**53


def test_each_tick_is_later_than_all_before() -> None:
    """Also while the clock stands still, or is set back."""
    times = iter((5_000, 5_000, 1_000, 9_000))
    clock = HybridClock(lambda: next(times))
    assert [clock.next_tick() for _ in range(4)] == [5, 6, 7, 9]


def test_ticks_are_later_than_what_was_seen_of_others() -> None:
    """So causes come before effects, on whichever machine."""
    clock = HybridClock(lambda: 5_000)
    clock.follow(100)
    clock.follow(50)
    assert clock.next_tick() == 101


def test_threads_share_no_tick() -> None:
    """Ticks order what they do."""
    clock = HybridClock(lambda: 0)
    ticks: list[int] = []
    threads = [threading.Thread(target=lambda: ticks.extend(clock.next_tick() for _ in range(500))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ticks) == list(range(1, 4_001))
