from __future__ import annotations

import pytest

from benchmarks.cost import imports

pytestmark = pytest.mark.meta


def test_an_install_is_counted_on_top_of_the_import_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the interpreter and the SDK take is in both counts, and is no part of ours."""
    monkeypatch.setattr(
        imports, "count_program", lambda arguments: 540 if "otel_errcompact.install()" in arguments[1] else 400
    )
    assert imports.count_install() == pytest.approx(0.35)
