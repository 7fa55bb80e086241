"""The conversations that every integration plays, with the generic boundary in a loop of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integrations.conversations import CONVERSATIONS, Conversation, played, verify

if TYPE_CHECKING:
    from otel_errcompact.engine.ledger import Ledger


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_a_conversation_comes_to_what_is_written(ledger: Ledger, conversation: Conversation) -> None:
    """The same decisions as in every framework."""
    verify(conversation, played(conversation, ledger))
