"""
Lead a failure from a tool's result to the agent's text.

    detect -> extract -> redact -> template and key -> record -> decide -> render

The steps are here in this order, once. Four users take them: the ledger, through the ledger spans and log records, the
error pass of the context window, and `compact_errors`. Only the ledger decides (`engine/ladder.py`): a list of messages
or events has no run to stop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from otel_errcompact import digest as digests
from otel_errcompact import late
from otel_errcompact.digest import NOTHING_SHOWN, Shown, Situation
from otel_errcompact.digest.tokens import TokenCounter, estimate_tokens
from otel_errcompact.engine.load import Load
from otel_errcompact.errors import EXECUTED, SHED, TRANSIENT, UNSURE, FailureKind
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.records import dataclass
from otel_errcompact.runtime.roots import ANYWHERE, CodeRoots

if TYPE_CHECKING:
    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.compactor.model import ModelExtractor
    from otel_errcompact.detector.results import ResultVerdict
    from otel_errcompact.digest import DigestOptions
    from otel_errcompact.errors import RawError
    from otel_errcompact.escalator.escalation import Escalation
    from otel_errcompact.history.history import ErrorClass, History, Recorded


CLASS_UNREAD: Final = "class_unread"
"""The stage under which failures are counted that there was no time to read."""


@dataclass(slots=True, kw_only=True)
class FailureMemory:
    """Holds what is known of the failures of one run or list."""

    history: History
    """What has failed and what has succeeded."""

    shown: Shown = NOTHING_SHOWN
    """What the agent has been shown of it."""


class Pipeline:
    """
    Takes the steps from a tool's result to the agent's text.

    It holds settings only: what changes is in `FailureMemory`.

    Args:
        options: How long a digest may be.
        count_tokens: How tokens are counted.
        hidden_failures: Whether a result counts that only states a failure.
        guard: Keeps faults of the classification away from the application.
        model: Reads prose that no parser understands.
        roots: The folders of the user's own code.
        load: Tells whether there is time to read a failure.
    """

    def __init__(
        self,
        options: DigestOptions,
        count_tokens: TokenCounter = estimate_tokens,
        *,
        hidden_failures: bool = True,
        guard: Guard | None = None,
        model: ModelExtractor | None = None,
        roots: CodeRoots = ANYWHERE,
        load: Load | None = None,
    ) -> None:
        self._options = options
        self._load = load or Load()
        self.roots: Final = roots
        self.count_tokens: Final = count_tokens
        self._hidden_failures = hidden_failures
        self._guard = guard or Guard()
        self._classifying = self._guard.stage("classify")
        self._model = model

    def detect(
        self, text: str, *, tool: str, arguments: str, flagged: bool | None, exit_code: int | None = None
    ) -> ResultVerdict:
        """Return whether a result is a failure, hidden ones only if wanted."""
        verdict = late.classify_result(text, tool=tool, arguments=arguments, flagged=flagged, exit_code=exit_code)
        if verdict.stated and not self._hidden_failures:
            return late.ResultVerdict(outcome="ignored", reason=verdict.reason)
        return verdict

    def classify(self, raw: RawError, now: int = 0) -> Classified:
        """
        Extract, redact and key a failure.

        Should that fail, thresholds still count the error, or a loop would never end. Where texts come faster than they
        are read, each is a class of its own that owns nothing of it, and stops no run; the class is found later, from
        the raw error. A live exception is always read, and its agent reads no more of it than before.
        """
        if raw.exception is None and self._load.is_high(now):
            self._guard.record_loss(CLASS_UNREAD, 1, "left unread")
            return late.leave_unread(raw)
        began = self._load.work_timer()
        found: Classified | None = None
        with self._classifying:
            found = late.classify(raw, self.roots)
            if self._model is not None:
                found = self._model.refine(raw, found)
        if raw.exception is None:
            self._load.add(began)
        return found or late.classify_roughly(raw)

    def kind_of(self, raw: RawError, found: Classified) -> FailureKind:
        """
        Return the kind of a failure.

        Should that fail, it counts as executed and permanent, as most are. One that was not read may be one that waits.
        """
        with self._classifying:
            kind = late.kind_of(raw, found.facts)
            if kind == EXECUTED and found.facts.format == SHED:
                kind = TRANSIENT
            return UNSURE if kind.transient and late.is_outcome_unknown(raw, found.facts) else kind
        return EXECUTED

    def record(
        self,
        memory: FailureMemory,
        raw: RawError,
        found: Classified,
        *,
        kind: FailureKind = EXECUTED,
        agent: str = "",
        call: str = "",
        hint: str | None = None,
        tick: int = 0,
    ) -> Recorded:
        """Count a failure as `History.record` does, with a hint if new."""
        is_new = memory.history.get(found.key) is None
        if hint is None:
            hint = late.hint_for(found.facts, may_retry=not kind.unknown) if is_new else ""
        recorded = memory.history.record(raw, found, kind=kind, agent=agent, call=call, hint=hint, tick=tick)
        if is_new:
            memory.shown = memory.shown.begin_class(found.key, memory.history)
        return recorded

    def render(self, memory: FailureMemory, raw: RawError, error_class: ErrorClass, situation: Situation) -> str:
        """Return the text of one failure and remember the agent read it."""
        options, count_tokens = self._options, self.count_tokens
        digest = digests.render_inline(
            raw, error_class, memory.shown, situation, options=options, count_tokens=count_tokens
        )
        memory.shown = digest.shown
        return digest.text

    def render_block(
        self,
        memory: FailureMemory,
        *,
        escalation: Escalation | None = None,
        unhandled: Escalation | None = None,
        guidance: str = "",
    ) -> str:
        """Return the block of recent errors; empty if no class is open."""
        return digests.render_block(
            memory.history,
            options=self._options,
            escalation=escalation,
            unhandled=unhandled,
            guidance=guidance,
            count_tokens=self.count_tokens,
        )
