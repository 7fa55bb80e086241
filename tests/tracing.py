"""Where something is done thousands of times tracing, as for coverage, takes several times as long as the library."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def untraced() -> Iterator[None]:
    """Trace nothing, neither here nor in threads that are started meanwhile."""
    own, threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        yield
    finally:
        threading.settrace(threads)
        sys.settrace(own)
