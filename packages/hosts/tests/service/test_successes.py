"""The service calls a success what its host calls one, and has no digest for it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import pytest

from tests.successes import FORMATS, TEXTS, answer_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from packages.hosts.tests.service.services import Place

pytestmark = pytest.mark.programs

REPORTS: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "status 0": ("/v1/results", lambda text: {"text": text, "exit_status": 0}),
    "not failed": ("/v1/results", lambda text: {"text": text, "failed": False}),
    "a success": ("/v1/successes", lambda text: {"text": text}),
    "nothing said": ("/v1/results", lambda text: {"text": answer_with(text)}),
}
"""Ways to report what came back."""


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("how", REPORTS)
def test_a_success_is_none_of_the_service(service: Place, how: str, format: str) -> None:
    """Nothing is counted, and nothing said."""
    changed = {}
    path, write = REPORTS[how]
    for name, text in TEXTS[format].items():
        call = {"run": uuid.uuid4().hex, "tool": "bash", "arguments": {"command": "python3 sync.py"}}
        status, answer = service.ask("POST", path, {**call, **write(text)})
        if (status, answer["outcome"], answer["digest"], answer["class"]) != (200, "success", "", None):
            changed[name] = answer
    assert changed == {}
