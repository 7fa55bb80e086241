"""Facts become a template and a dedup key."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from otel_errcompact.dedup.masking import mask
from otel_errcompact.dedup.outages import leave_place
from otel_errcompact.dedup.tails import drop_tails
from otel_errcompact.errors import NOWHERE
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, Location

KEY_VERSION: Final = "v3"
"""Part of every key: a change of rules that moves keys changes it, so that old keys never meet new ones."""

MAX_CAUSE: Final = 2_000
"""Characters of a cause that are masked; causes that differ beyond them are the same."""

_KEY_BYTES: Final = 8
_FIELD_SEPARATOR: Final = "\x1f"
_SLASH: Final = lazy_pattern(r"[/\\]")
_OF_A_MOMENT: Final = lazy_pattern(r"(?:/private)?(?:/var)?/tmp/[^/]*[0-9][^/]*\Z")
"""A file that lies in the folder for temporary ones itself, with a number in its name."""


def template_of(facts: Facts) -> str:
    """Return the cause of `facts` with its volatile parts masked."""
    template = drop_tails(mask(facts.keyed_cause[:MAX_CAUSE]))
    return template if facts.key_is_whole else leave_place(template)


def signature_of(kind: str, location: Location, template: str) -> str:
    """Return a text that failures differing in their line alone share."""
    return f"{kind} in {location.function} ({location.file_name}): {template}"


def dedup_key(facts: Facts, template: str) -> str:
    """
    Return the key that all failures of one class share.

    The line number is left out, since lines shift when code is edited. The type's qualification is left out, since log
    records carry only the last part of it.

    Args:
        facts: What the extractor found.
        template: The cause's template, as `template_of` gives it.

    Returns:
        Sixteen hexadecimal characters, the same in every process and on every machine.
    """
    parts = list_material(facts, template)
    material = _FIELD_SEPARATOR.join(parts)
    if material.count(_FIELD_SEPARATOR) >= len(parts):
        material = _FIELD_SEPARATOR.join(part.replace(_FIELD_SEPARATOR, " ") for part in parts)
    return blake2b(material.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).hexdigest()


def list_material(facts: Facts, template: str) -> tuple[str, str, str, str, str]:
    """Return what the key is made of: version, type, function, file, template."""
    location = NOWHERE if facts.key_is_whole else facts.keyed_location
    kind = "" if facts.key_is_whole else _bare_type(facts.type)
    return KEY_VERSION, kind, location.function, _bare_file(location.file), template


def _bare_type(name: str) -> str:
    # A type that a tool words freely stays whole.
    return name if " " in name else name.rpartition(".")[2] or name


@lru_cache(maxsize=1_024)
def _bare_file(path: str) -> str:
    return "<tmp>" if _OF_A_MOMENT.match(path) else mask(_SLASH.split(path)[-1])
