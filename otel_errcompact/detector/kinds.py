"""The kind of a failure: transient, rejected before execution, or neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from otel_errcompact.detector.statuses import is_not_yet
from otel_errcompact.errors import EXECUTED, REJECTED, TRANSIENT, FailureKind
from otel_errcompact.extract.lexicon import FAULTS_OF_CODE, Sense, Words
from otel_errcompact.extract.table import names_of, patterns_of, rejections
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact.runtime.strings import has_any

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts, RawError

MAX_CAUSE: Final = 1_000
"""Characters of a cause that are read."""


def kind_of(raw: RawError, facts: Facts) -> FailureKind:
    """
    Return the kind of a failure by its type, codes and cause.

    Evidence, such as the output of a program, has no part in it.
    """
    return find_kind(raw, facts)[0]


def find_kind(raw: RawError, facts: Facts) -> tuple[FailureKind, str]:
    """Return the same kind, and the words that say so."""
    cause = facts.cause[:MAX_CAUSE]
    words = words_of(facts.type)
    if said := _find_rejected(raw, facts, cause, words):
        return REJECTED, said
    said = _find_transient(raw, facts, cause, words)
    return (TRANSIENT, said) if said else (EXECUTED, "")


def words_of(kind: str) -> tuple[str, ...]:
    """Return the words of a type's name in small letters."""
    # `requests.exceptions.ReadTimeout` is `read timeout`.
    name = kind[:_MAX_NAME].strip()
    name = name[max(name.rfind("."), name.rfind(":")) + 1 :]
    return tuple([word.lower() for word in _WORD.findall(name)])


_MAX_NAME: Final = 200
_WORD: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_QUOTED: Final = lazy_pattern(r"'[^'\n]{0,300}'|\"[^\"\n]{0,300}\"|`[^`\n]{0,300}`")


# Transient.

_STATUS: Final = lazy_pattern(
    r"(?:\A|[\s(])(?:HTTP(?:/[0-9](?:\.[0-9])?)?(?: Error| status| code)*|[Ss]tatus(?:[ _]?[Cc]ode)?|Error code)"
    r"[ :=]{0,3}([1-5][0-9]{2})(?![0-9])"
    r"|\A([45][0-9]{2})(?: (?:Client|Server) Error\b|,? [A-Za-z]|\Z)"
    r"|\b(?:Client|Server) error '([45][0-9]{2}) "
    r"|\bstatus code ([45][0-9]{2})(?![0-9])|\brequested URL returned error: ([45][0-9]{2})(?![0-9])"
)
_WORDS_OF_STATUS: Final = ("HTTP", "tatus", "rror code", "rror '", "returned error: ")
"""Strings of which each text with a status has one, unless it begins with it."""

_WAITING_HELPS: Final = frozenset({"202", "408", "409", "423", "425", "429"})
_NEVER: Final = frozenset({"501", "505", "506", "510"})

_ASKED_TO_WAIT: Final = lazy_pattern(
    r"(?i)\b(?:(?:try|retry)(?:ing)?(?: again)? (?:in|after)|wait(?: for)?"
    r"|retry[-_ ]?after(?P<of_name>[-_ ]?(?:ms|seconds))?[\"']?\s{0,3}[:=])\s{0,3}[\"']?(?:about |at least )?"
    r"(?P<time>[0-9]{1,6}(?:\.[0-9]{1,6})?(?:h[0-9]{1,2}m|m[0-9]{1,2}(?:\.[0-9]{1,6})?(?=s))?)"
    r" ?(?P<unit>ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|m|hours?|h)?\b"
)
_NAMED: Final = Words(Sense.NAMED, at=r"(?<![^ ])")
_TRANSIENT: Final = Words(Sense.TRANSIENT)
_YET: Final = Words(Sense.YET)
_QUOTA: Final = Words(Sense.QUOTA)
_HOST: Final = Words(Sense.HOST)

_ENDED_FROM_OUTSIDE: Final = frozenset({124, 137, 143, -9, -15})
"""Exit statuses of commands that `timeout`, the kernel or a user ended."""

_ENDED: Final = lazy_pattern(r"exit code (?:124|137|143|-9|-15)\Z")
_MAX_ANSWER: Final = 8_192


def _find_transient(raw: RawError, facts: Facts, cause: str, words: tuple[str, ...]) -> str:
    if is_ended_from_outside(raw, facts) or is_not_yet(raw.tool, raw.arguments, raw.exit_code):
        return facts.type if raw.exit_code is None else f"exit code {raw.exit_code}"
    name = " ".join(words)
    if facts.format in names_of("judges_code"):
        return _NAMED.find(name) if FAULTS_OF_CODE.isdisjoint(words) else ""
    lowered = cause.lower()
    says_when = _YET.find(lowered) or _words_in(search_wait(raw, facts))
    if says_when or _QUOTA.find(f"{name}\n{lowered}"):
        return says_when
    status = status_of(facts.type, cause)
    if status:
        helps = status in _WAITING_HELPS or (status[0] == "5" and status not in _NEVER)
        return f"status {status}" if helps else ""
    if words[-2:] == ("exception", "group"):
        return facts.key_cause if all(map(_is_transient_member, facts.key_cause.split(" + "))) else ""
    return _find_named_transient(cause, words)


def _words_in(found: re.Match[str] | None) -> str:
    return found[0].strip() if found is not None else ""


def _is_transient_member(signature: str) -> bool:
    # As `signature_of` writes it: `TimeoutError in load (a.py): read timed out`.
    kind, _, said = signature.partition(" in ")
    words = words_of(kind)
    return bool(_find_named_transient(said.partition("): ")[2], words))


def is_ended_from_outside(raw: RawError, facts: Facts) -> bool:
    """Tell whether a command was ended from outside."""
    ended = raw.exit_code in _ENDED_FROM_OUTSIDE
    return ended or (facts.type.startswith("exit code ") and _ENDED.match(facts.type) is not None)


def search_wait(raw: RawError, facts: Facts) -> re.Match[str] | None:
    """Return where the other side says how long to wait."""
    cause = facts.cause[:MAX_CAUSE]
    found = _ASKED_TO_WAIT.search(cause) if has_any(cause.lower(), ("try", "wait")) else None
    if found is None and facts.format in names_of("is_of_service"):
        return _ASKED_TO_WAIT.search(raw.text[:_MAX_ANSWER])
    return found


def _find_named_transient(cause: str, words: tuple[str, ...]) -> str:
    if not FAULTS_OF_CODE.isdisjoint(words):
        return ""
    said = _NAMED.find(" ".join(words)) or _TRANSIENT.find(statement_of(cause))
    return "" if said and _HOST.find(cause.lower()) else said


def statement_of(cause: str) -> str:
    """
    Return what a cause says, without what it quotes.

    It is in small letters, since a pattern that ignores case is several times as slow.
    """
    return _QUOTED.sub(_keep_path, cause).lower()


def _keep_path(quoted: re.Match[str]) -> str:
    # Quoted words other than a path are a value, and no statement.
    return quoted[0][1:-1] if " " not in quoted[0] else ""


def status_of(kind: str, cause: str) -> str:
    """Return the HTTP status that is stated, or nothing."""
    found = _search_status(kind) or _search_status(cause)
    return next((status for status in found.groups() if status), "") if found else ""


def _search_status(said: str) -> re.Match[str] | None:
    return _STATUS.search(said) if said[:1] in "45" or has_any(said, _WORDS_OF_STATUS) else None


_ABSENT: Final = Words(Sense.ABSENT)
_OF_NAMES: Final = frozenset({"found", "such", "undefined", "unknown", "syntax", "parse"})
"""Words in the names of types with that sense; not `invalid`, which compilers use for code."""


def names_nothing(facts: Facts) -> bool:
    """
    Tell whether a call failed for what it named.

    Or for how it was written: either way nothing is left undone.
    """
    words = _OF_NAMES.intersection(words_of(facts.type))
    return bool(words) or bool(_ABSENT.find(facts.cause[:MAX_CAUSE].lower()))


# Rejected.

_REJECTED_TYPES: Final = frozenset(
    {"CommandNotFound", "InvalidArguments", "MissingScript", "UnknownTool", "UsageError"}
)
"""Types of calls that shells, programs and loops reject, whichever format read them."""

_REFUSED: Final = Words(Sense.REFUSED)
_REJECTED: Final = Words(Sense.REJECTED, at=r"\A(?:error: )?")
_REJECTED_BY_TOOLS: Final = lazy_pattern(lambda: rf"(?:Error: )?(?:{patterns_of('rejects')})")

_GENERIC: Final = frozenset(
    {(), ("error",), ("tool", "error"), ("tool", "exception"), ("exception",), ("make",), ("not", "found", "error")}
)
"""Words of types without a meaning, so that the cause's words count."""

_CALLED_WRONG: Final = lazy_pattern(
    r"(?P<function>[\w.<>]{1,200})\(\) (?:missing [0-9]{1,3} required |got an unexpected keyword argument"
    r"|got multiple values for |takes [\w ]{1,40} positional arguments? but )"
)
_INVALID_MODEL: Final = lazy_pattern(
    r"(?:[\w.:/-]{1,100}: )?[0-9]{1,6} validation errors? for (?P<model>[\w\[\].-]{1,200})"
)
_SUFFIX_OF_INPUT: Final = lazy_pattern(r"(?:arguments|args|input|inputs|schema|params|parameters|toolinput|toolargs)\Z")
_NO_LETTERS: Final = lazy_pattern(r"[^a-z0-9]")


def _find_rejected(raw: RawError, facts: Facts, cause: str, words: tuple[str, ...]) -> str:
    kind, form = facts.type, facts.format
    if form in names_of("judges_code"):
        return kind if kind == "UsageError" else ""
    if " validation error" in cause and (found := _INVALID_MODEL.match(cause)) is not None:
        return found[0] if _is_input_of(raw.tool, found["model"]) else ""
    if (form, kind) in rejections() or kind in _REJECTED_TYPES:
        return kind
    said = _REFUSED.find(" ".join(words)) or (_find_wrong_call(raw.tool, cause) if "() " in cause else "")
    if said:
        return said
    is_generic = words in _GENERIC or words[:2] == ("exit", "code")
    return (_REJECTED.find(cause.lower()) or _words_in(_REJECTED_BY_TOOLS.match(cause))) if is_generic else ""


def _find_wrong_call(tool: str, cause: str) -> str:
    found = _CALLED_WRONG.match(cause)
    is_its = (
        found and tool and _normalise_name(found["function"].rpartition(".")[2]) == _normalise_name(_bare_name(tool))
    )
    return _words_in(found) if is_its else ""


def _is_input_of(tool: str, model: str) -> bool:
    # Frameworks give the model of a tool's input its name. Any other model may be one that the tool's code validates in
    # the middle of its work.
    name = _bare_name(tool)
    if model.startswith("call["):
        return True
    if not name:
        return False
    plain = _normalise_name(model)
    return model == name or (_SUFFIX_OF_INPUT.sub("", plain) == _normalise_name(name) != plain)


def _bare_name(tool: str) -> str:
    # `mcp__shop__find_order` is `find_order`.
    return re.split(r"__|[.:/]", tool)[-1]


def _normalise_name(name: str) -> str:
    return _NO_LETTERS.sub("", name.lower())
