from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType

import pytest

from benchmarks.quality.ours import find_memories, forget, key_of
from otel_errcompact.redaction import redact

pytestmark = pytest.mark.meta


def test_a_memory_that_a_module_brings_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in no list: what is measured as new must be new."""
    module = ModuleType("otel_errcompact.new")
    module.remember = lru_cache(maxsize=8)(len)  # type: ignore[attr-defined]
    module.remember("a text")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    forget()

    assert module.remember.cache_info().currsize == 0


def test_nothing_is_remembered_of_a_text() -> None:
    """Redaction, names, and lines forget too, not only classes."""
    text = "psql: error: connection to server at 'db.example', port 5432 failed: Connection refused"
    key_of(text)

    forget()

    assert [memory.__name__ for memory in find_memories() if memory.cache_info().currsize] == []
    assert redact._redact_short in find_memories()
