"""Which layer runs at which estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact_context.providers.refusals import make_forms
from otel_errcompact_context.window.room import check_reserve, window_by_options

if TYPE_CHECKING:
    from otel_errcompact.config import ContextOptions
    from otel_errcompact_context.notes import Reason

Occasion = Literal["over_trigger", "overflow", "asked"]
"""Why a list is compacted: before every call of a model, after one that was refused, or because somebody wants it."""

BATCHES: Final = 4
"""Old results are not touched for less than this part of the way from the trigger to the target."""

BATCH_TOKENS: Final = 2_000
"""And old errors not for less than this, or the same part of the way if that is less."""

LASTING_TURNS: Final = 12
"""For so many turns a cut should last: each costs a prompt cache its prefix ..."""

LASTING_SHARE: Final = 5
"""... while one part in so many of the target is left, or a small window would hold nothing else than newest turns."""

HALF: Final = 2
"""To one part in so many a list is cut that was refused although its estimate is within the room."""


class Schedule:
    """
    Which layer is due at which estimate.

    Args:
        options: The shares of the room.
        room: What the list may cost.
        tokens: What it costs.
        reason: Why it is compacted. What a provider has refused is too large, however small its estimate is.
        is_cold: Whether the provider's cache has expired, so that no prefix of the list is worth anything.
        turn_tokens: What a turn of the list costs on average; 0 where a summary is what takes turns out in good time.
    """

    def __init__(
        self,
        options: ContextOptions,
        room: int,
        tokens: int,
        reason: Occasion,
        *,
        is_cold: bool = False,
        turn_tokens: int = 0,
    ) -> None:
        limit = min(room, tokens) if reason == "overflow" else room
        self.target = int(limit * options.target_share)
        if reason == "overflow" and tokens <= room:
            # The refusal named no number that explains it: by how much the estimate is wrong is not known.
            self.target = min(self.target, tokens // HALF)
        self.room = self.target if reason == "overflow" else room
        """What the list must not cost more than."""
        self._trigger = int(limit * options.trigger_share)
        self.ample = self.target
        """To what messages that stay are shortened."""
        self._takes_turns_early = reason == "over_trigger" and turn_tokens > 0
        if self._takes_turns_early:
            lasting = self._trigger - LASTING_TURNS * turn_tokens
            self.target = min(self.target, max(lasting, self.target // LASTING_SHARE))
        self.least_gain = (self._trigger - self.target) // BATCHES if reason == "over_trigger" else 0
        """What is worth a prompt cache; what gains less is left to the reactive layer, which goes to the target."""
        is_spoiled = is_cold or reason != "over_trigger" or tokens > self._trigger
        self.batch = 1 if is_spoiled else max(1, min(BATCH_TOKENS, (self._trigger - self.target) // BATCHES))
        """What editing old errors must gain at once where nothing else spoils a prompt cache."""
        self._is_cold = is_cold
        self._reason: Occasion = reason
        self._begun = reason != "over_trigger"

    def always(self, _: int) -> Reason:
        """Run a layer that has limits of its own."""
        return "always"

    def to_target(self, tokens: int) -> Reason | None:
        """Run a layer from the trigger on until the target is reached."""
        # Work that has begun continues down to the target, so that the next time is far.
        self._begun = self._begun or tokens > self._trigger
        return self._reason if self._begun and tokens > self.target else None

    def when_cold(self, tokens: int) -> Reason | None:
        """Run a layer once the provider's cache has expired, and else as `to_target` says."""
        due = self.to_target(tokens)
        return "cache_expired" if self._is_cold else due

    def to_room(self, tokens: int) -> Reason | None:
        """Run a layer where milder ones have not made enough room."""
        if tokens > self.room:
            return "overflow" if self._reason == "overflow" else "over_window"
        # Or the next turns reach the trigger again, and each time a prompt cache loses its prefix.
        is_near = self._takes_turns_early and self._begun and tokens > (self.target + self._trigger) // 2
        return self._reason if is_near else None


def check_options(options: ContextOptions) -> None:
    """
    Check that options do not contradict one another.

    Raises:
        ConfigurationError: They do.
    """
    make_forms(options.refusals)
    window = window_by_options(options)
    if options.reserve_tokens is not None:
        check_reserve(options.reserve_tokens, window)
    if options.target_share > options.trigger_share:
        raise ConfigurationError(
            f"target_share ({options.target_share}) is above trigger_share ({options.trigger_share}): compaction stops "
            "at the target, so that it must not lie above where it begins"
        )
    if options.preview_tokens > options.result_budget_tokens:
        raise ConfigurationError(
            f"preview_tokens ({options.preview_tokens}) is above result_budget_tokens "
            f"({options.result_budget_tokens}): a preview must cost less than all results may"
        )
    if options.snip_messages is not None and options.head_messages >= options.snip_messages:
        raise ConfigurationError(
            f"head_messages ({options.head_messages}) is not below snip_messages ({options.snip_messages}): there is "
            "no middle that could be taken out"
        )
