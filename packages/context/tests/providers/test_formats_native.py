"""The objects of the SDKs and any mapping are read as the plain dicts they stand for, and never changed."""

from __future__ import annotations

from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field

from otel_errcompact_context.providers.native import copy_of, fields_of, plain


class Block(BaseModel):
    """
    A block as the SDKs declare them: fields with the provider's names as aliases, and what is not known yet.
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    text: str
    thought_signature: bytes | None = Field(default=None, alias="thoughtSignature")
    kind: str | None = None


def test_any_mapping_is_read_as_a_dict() -> None:
    """A frozen one, too."""
    assert fields_of(MappingProxyType({"role": "user"})) == {"role": "user"}
    assert copy_of(MappingProxyType({"role": "user"})) == {"role": "user"}


def test_a_copy_of_an_object_has_what_it_was_made_with() -> None:
    """Under the provider's names, with what the SDK does not know; nothing that was left to its default."""
    block = Block(text="hello", thought_signature=b"\x01", cache_control={"type": "ephemeral"})
    copied = copy_of(block)
    assert copied == {"text": "hello", "thoughtSignature": b"\x01", "cache_control": {"type": "ephemeral"}}
    copied["text"] = "changed"
    assert block.text == "hello"


def test_a_copy_of_what_has_no_fields_is_empty() -> None:
    """It is said of a message elsewhere."""
    assert copy_of(7) == {}


def test_what_json_cannot_hold_is_kept_all_the_same() -> None:
    """Bytes as Base64, other objects by their text, and objects of an SDK as it sends them."""
    told = {"data": b"\x00\xff", "blocks": (Block(text="a"), 1.5, None), "place": MappingProxyType({1: {2}})}
    assert plain(told) == {"data": "AP8=", "blocks": [{"text": "a"}, 1.5, None], "place": {"1": "{2}"}}
