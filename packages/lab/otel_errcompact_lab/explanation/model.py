"""What an explanation holds; all texts in it are free of secrets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One step of cleaning: characters before and after, first changed line."""

    name: str
    before: int
    after: int
    example: str
    """Empty for a text with a secret, which a layer may show, and for a very long one."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The secrets of one kind, and the finders that know it unescaped."""

    kind: str
    count: int
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A format that was asked; `inside` another one, which was reading."""

    format: str
    inside: str
    markers: tuple[str, ...]
    """Its markers that stand in the text; none for a format that is asked for any text."""

    lines: int
    took: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """Type, location, cause, a detail or the tally."""

    name: str
    value: str
    lines: tuple[int, ...]
    """Lines of the cleaned text that hold it, from 1; none where no line holds these very words."""

    source: str
    """What returned it first; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Lines of one kind that the agent does not read whole."""

    kind: str
    lines: int
    example: str


@dataclass(frozen=True, slots=True)
class Mask:
    """What one rule of `dedup/rules.py`, `labelled_id` or `tail` masks."""

    rule: str
    text: str
    placeholder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What was made of one raw error, and why."""

    outcome: str
    certainty: str
    """`declared` or `stated`; `none` for what is no failure."""

    reason: str
    closing: str
    """The last line that a closing statement of the stating format matches."""

    kind: str
    """`transient`, `rejected` or `executed`; `transient, perhaps executed` where the call may have taken effect."""

    kind_words: str
    steps: tuple[Step, ...]
    secrets: tuple[Secret, ...]
    format: str
    asked: tuple[Asked, ...]
    unasked: tuple[str, ...]
    """Formats with a marker in the text that stand behind the one that took it."""

    facts: tuple[Fact, ...]
    cuts: tuple[Cut, ...]
    digest: str
    """What the agent reads, were it the first failure of a run."""

    template: str
    masks: tuple[Mask, ...]
    key: str
    material: dict[str, str]
    hint: str
    hint_words: str
