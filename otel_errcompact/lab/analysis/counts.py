"""Sums over one run or many, and their shares."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(slots=True, kw_only=True)
class Counts:
    """Sums over one run or many; tokens are estimated from characters."""

    calls: int = 0
    """Tool calls with a result."""

    failures: int = 0
    silent: int = 0
    """Those of the failures that the record calls successes: recognised by their text, so each of them is a guess."""

    unflagged: int = 0
    """Failures without a flag or exit status in the record, also recognised by their text."""

    ignored: int = 0
    """Declined calls, empty searches, cancellations: they look like failures and are none."""

    classes: int = 0
    """Distinct failures in a run; over all runs, the sum of those."""

    error_tokens: int = 0
    silent_tokens: int = 0
    unflagged_tokens: int = 0
    result_tokens: int = 0
    context_tokens: int = 0
    """Everything that was said, asked and answered, once."""

    input_tokens: int = 0
    """What the model calls of the run read, had no cache helped: the context so far, once for each of them."""

    digest_tokens: int = 0
    """The texts that would have stood in place of the errors."""

    input_tokens_saved: int = 0
    """Of `input_tokens`, those that digests in place of raw errors would have saved."""

    exact_repeats: int = 0
    """Failures whose whole text an earlier one of the run had, but for digits, hexadecimal numbers and paths."""

    class_repeats: int = 0
    """Failures whose class had failed before in the run."""

    error_characters: int = 0
    """Characters in the lines of errors, without indentation and blank lines."""

    seen_characters: int = 0
    """Those in lines that an earlier error of the run had."""

    doubled_characters: int = 0
    """Those in lines that stood earlier in the same error."""

    def add(self, other: Counts) -> None:
        """Add the sums of `other` to these."""
        for name in _NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def stated_tokens(self) -> int:
        """Tokens of errors that nothing declares and a tool states."""
        return self.silent_tokens + self.unflagged_tokens

    @property
    def saved_tokens(self) -> int:
        """Tokens of the context that digests save; negative if digests are longer."""
        return self.error_tokens - self.digest_tokens

    def to_json(self) -> dict[str, int | float]:
        """Return the sums and the shares, under stable names."""
        sums: dict[str, int | float] = {name: getattr(self, name) for name in _NAMES}
        shares: dict[str, int | float] = {
            "saved_tokens": self.saved_tokens,
            "error_share_of_results": share(self.error_tokens, self.result_tokens),
            "error_share_of_context": share(self.error_tokens, self.context_tokens),
            "silent_share_of_context": share(self.silent_tokens, self.context_tokens),
            "unflagged_share_of_context": share(self.unflagged_tokens, self.context_tokens),
            "saved_share_of_context": share(self.saved_tokens, self.context_tokens),
            "saved_share_of_input": share(self.input_tokens_saved, self.input_tokens),
            "exact_repeat_share": share(self.exact_repeats, self.failures),
            "class_repeat_share": share(self.class_repeats, self.failures),
            "seen_line_share": share(self.seen_characters, self.error_characters),
            "doubled_line_share": share(self.doubled_characters, self.error_characters),
        }
        return sums | {name: round(value, 6) for name, value in shares.items()}


_NAMES = tuple(field.name for field in fields(Counts))


def share(part: float, whole: float) -> float:
    """Return `part` of `whole`; of nothing, nothing."""
    return part / whole if whole else 0.0
