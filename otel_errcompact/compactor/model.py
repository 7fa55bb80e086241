"""
Read prose that no parser understands with an optional model.

Its time and size are bounded, and an answer counts only with a quote from the text.

It changes what is shown of a failure and nothing else. Key and template are those of the prose extractor, so that two
answers in other words are still one class, and a class is asked about once.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from otel_errcompact.dedup.masking import mask
from otel_errcompact.exceptions import ConfigurationError
from otel_errcompact.extract.clipping import MAX_CAUSE, details
from otel_errcompact.extract.text import read_text
from otel_errcompact.redaction.redact import redact
from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.guard import Guard
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact.runtime.records import replace

if TYPE_CHECKING:
    from otel_errcompact.compactor.classify import Classified
    from otel_errcompact.errors import RawError

FORMAT: Final = "prose"
"""The only format whose facts a model may replace."""

MIN_LINES: Final = 3
"""Lines from which on a text is worth a question; of shorter ones the prose extractor shows all there is."""

MIN_QUOTE: Final = 6
"""Characters of a quote; a shorter one stands in any text."""

MAX_SEARCHED: Final = 64
"""Lines of a text among which the counterpart of an earlier quote is looked for."""

MAX_REMEMBERED: Final = 256
"""Classes whose answers are kept."""

MAX_FAULTS: Final = 3
PAUSE: Final = 100
"""After so many time-outs and exceptions in a row the reader is not asked so many further questions."""

CUT: Final = "\n[...]\n"
"""Stands between head and tail of a text that was clipped for the model."""

_TYPE: Final = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_.:-]{0,79}")


class ModelAnswer(NamedTuple):
    """The answer of a model."""

    type: str
    """A short name for the kind of failure, like an exception's; empty if the model has none to offer."""

    cause: str
    """The root cause: one line, quoted from the text word for word."""


class ErrorReader(Protocol):
    """Finds the root cause in a text, as a language model does."""

    def read(self, text: str, /) -> ModelAnswer:
        """
        Return the root cause of the failure in `text`.

        The text is free of secrets and of bounded size.

        It is called in a thread of its own and never twice at a time. It may be slow, wrong or broken.
        """
        ...


class ModelExtractor:
    """
    Asks a reader about prose once per class, and verifies its quotes.

    An answer that comes too late is kept for the next occurrence of its class. A reader that is busy is not
    asked again, so that one that hangs holds a single thread and costs a single wait.

    Args:
        reader: Reads the texts.
        seconds: How long a failure waits for its answer.
        characters: Characters of a text that the reader gets: its head and its tail.
        guard: Counts and logs the reader's faults.

    Raises:
        ConfigurationError: A limit is not above zero.
    """

    def __init__(
        self,
        reader: ErrorReader,
        *,
        seconds: float = 2.0,
        characters: int = 4_000,
        guard: Guard | None = None,
    ) -> None:
        for name, value in (("seconds", seconds), ("characters", characters)):
            if not value > 0:
                raise ConfigurationError(f"{name}={value!r} is not above zero")
        self._reader = reader
        self._seconds = seconds
        self._characters = characters
        self._guard = guard or Guard()
        self._answers: OrderedDict[str, ModelAnswer | None] = OrderedDict()
        self._thread: Thread | None
        self._reset_questions()
        reset_in_child(self._reset_questions)

    def refine(self, raw: RawError, found: Classified) -> Classified:
        """Return `found`, with the reader's type and cause if it has any."""
        if found.facts.format != FORMAT or raw.exception is not None:
            return found
        body = read_text(raw.text, message=raw.message).body
        if body.count("\n") < MIN_LINES - 1:
            return found
        parts = tuple(map(redact, _clip_body(body, self._characters)))
        answer = self._find_answer(found.key, parts)
        if answer is None:
            return found
        cause = redact(_find_quote(answer.cause, parts))
        return _apply_answer(found, answer.type, cause) if cause else found

    def _find_answer(self, key: str, parts: tuple[str, ...]) -> ModelAnswer | None:
        """Return the answer for a class, remembered or new, or nothing."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        self._ask_reader(key, parts)
        with self._lock:
            return self._answers.get(key)

    def _ask_reader(self, key: str, parts: tuple[str, ...]) -> None:
        failed: list[BaseException] = []
        thread = Thread(target=self._read_answer, args=(key, parts, failed), name="errcompact-model", daemon=True)
        try:
            if not self._start_question(thread, key):
                return
        except RuntimeError as error:  # No more threads are to be had.
            failed.append(error)
        else:
            thread.join(self._seconds)
            if thread.is_alive():
                failed.append(TimeoutError(f"the model took longer than {self._seconds} s"))
        if not failed:
            self._faults = 0
            return
        self._faults += 1
        if self._faults >= MAX_FAULTS:
            self._paused = PAUSE
        self._guard.record_failure("model", failed[0], fatal=False)

    def _start_question(self, thread: Thread, key: str) -> bool:
        """Start a question, unless one is open or the reader pauses."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return False
            if self._paused:
                self._paused -= 1
                return False
            thread.start()
            self._thread = thread
            self._keep_answer(key, None)  # Until the thread, which has to wait for the lock, knows better.
            return True

    def _read_answer(self, key: str, parts: tuple[str, ...], failed: list[BaseException]) -> None:
        """Ask the reader, verify its answer and remember it, in a thread."""
        try:
            answer = _check_answer(self._reader.read(CUT.join(parts)), parts)
        except BaseException as error:  # noqa: BLE001 - whatever a reader does, it does to this thread alone
            failed.append(error)
            return
        with self._lock:
            self._keep_answer(key, answer)

    def _keep_answer(self, key: str, answer: ModelAnswer | None) -> None:
        self._answers[key] = answer
        while len(self._answers) > MAX_REMEMBERED:
            self._answers.popitem(last=False)

    def _reset_questions(self) -> None:
        """
        Start without a question in a child process.

        A child has none of its parent's threads, and may inherit a locked lock.
        """
        self._lock = ReentrantLock()
        self._thread = None
        self._faults = 0
        self._paused = 0


def _clip_body(body: str, limit: int) -> tuple[str, ...]:
    """Return a text whole, or its head and tail if long."""
    if len(body) <= limit:
        return (body,)
    tail = limit // 2
    return body[: limit - tail], body[len(body) - tail :]


def _check_answer(answer: object, parts: tuple[str, ...]) -> ModelAnswer | None:
    """
    Return an answer with quoted cause and plausible type, or nothing.

    Raises:
        TypeError: It is no answer at all.
    """
    if not isinstance(answer, ModelAnswer) or type(answer.type) is not str or type(answer.cause) is not str:
        raise TypeError(f"the model returned no ModelAnswer of two strings but {type(answer).__name__}")
    kind, cause = answer
    harmless = cause.isprintable() and MIN_QUOTE <= len(cause.strip()) <= MAX_CAUSE
    named = not kind or _TYPE.fullmatch(kind)
    return answer if harmless and named and _is_quoted(cause, parts) else None


def _is_quoted(cause: str, parts: tuple[str, ...]) -> bool:
    quote = _normalise_spaces(cause)
    return any(quote in _normalise_spaces(part) for part in parts)


def _normalise_spaces(text: str) -> str:
    return " ".join(text.split())


def _find_quote(cause: str, parts: tuple[str, ...]) -> str:
    """Return the line that a cause quotes, up to volatile values."""
    if _is_quoted(cause, parts):
        return _normalise_spaces(cause)
    template = mask(_normalise_spaces(cause))
    lines = [line for part in parts for line in part.split("\n", MAX_SEARCHED)[:MAX_SEARCHED]]
    candidates = (_normalise_spaces(line[:MAX_CAUSE]) for line in lines)
    return next((line for line in candidates if line.isprintable() and mask(line) == template), "")


def _apply_answer(found: Classified, kind: str, cause: str) -> Classified:
    facts = found.facts
    others = (line for line in (facts.cause, *facts.details) if line not in cause)
    better = replace(facts, type=kind or facts.type, cause=cause, details=details(others), key_cause=facts.keyed_cause)
    return replace(found, facts=better)
