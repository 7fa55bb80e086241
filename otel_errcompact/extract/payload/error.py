"""Errors of a payload, put into a cause, lines and a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.extract.clipping import MAX_DETAIL
from otel_errcompact.extract.payload.values import MAX_VALUE
from otel_errcompact.extract.payload.violation import GENERIC_CODES, Violation, describe, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

VALIDATION: Final = "ValidationError"
UNKNOWN_TOOL: Final = "UnknownTool"
INVALID_ARGUMENTS: Final = "InvalidArguments"
"""The type of input that breaks rules, whatever library says so."""

_MAX_LINES: Final = 48


class Body(NamedTuple):
    """What decoded data says of an error."""

    message: str
    code: str = ""
    status: str = ""
    details: tuple[str, ...] = ()
    key: str = ""
    """What counts for the key instead of the message, where that is something else."""

    violations: tuple[Violation, ...] = ()

    @property
    def is_validation(self) -> bool:
        """Whether the body states broken rules and no code of its own."""
        return bool(self.violations) and (not self.code or GENERIC_CODES.search(self.code) is not None)

    @property
    def whole_key(self) -> str:
        """What counts for the key where nothing else does."""
        return f"{VALIDATION}: {self.key}"

    def summary(self) -> str:
        """Return code and message in one line."""
        if not self.code or self.is_validation or self.message.startswith(self.code):
            return self.message or self.code
        return f"{self.code}: {self.message}" if self.message else self.code


class Error(NamedTuple):
    """One error of a body, with those inside it."""

    message: str = ""
    code: str = ""
    status: str = ""
    violations: tuple[Violation, ...] = ()
    inner: tuple[Error, ...] = ()
    """Errors listed beside it."""

    retry: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Names among the context that tell one error from another."""

    wrapper: str = ""

    def body(self) -> Body:
        """Return the error with all that belongs to it as lines."""
        head, rest = self, list(self.inner)
        if not self.message and not self.violations and rest:
            first = rest.pop(0)
            head = first.merge_into(self)
            rest = [*head.inner, *rest]
        message, lines = describe(head.message, head.violations) if head.violations else (head.message, ())
        others = [line for error in rest for line in error.lines()]
        details = (*lines, *others, *_side_by_side(head.retry), head.wrapper, *_side_by_side(head.context))
        told = f"{head.code}: {message}"
        code = head.code
        return Body(
            message or code,
            code,
            head.status or next((error.status for error in rest if error.status), ""),
            tuple(dict.fromkeys(line for line in details if line and line not in told))[:_MAX_LINES],
            _build_key(head, rest),
            head.violations,
        )

    def merge_into(self, outer: Error) -> Error:
        """Return the error with what stands around it."""
        return self._replace(
            message=self.message or outer.message,
            code=self.code or outer.code,
            status=self.status or outer.status,
            retry=(*self.retry, *outer.retry),
            context=(*self.context, *outer.context),
            words=(*self.words, *outer.words),
            wrapper=self.wrapper or _describe_wrapper(outer, self),
        )

    def lines(self) -> Iterator[str]:
        """Yield the error as lines under another one."""
        said = self.message if self.code in self.message else ": ".join(filter(None, (self.code, self.message)))
        about = ", ".join(self.context)
        if said and about and len(said) + len(about) < MAX_DETAIL and about not in said:
            yield f"{said} ({about})"
        elif said:
            yield said
            yield from self.context
        else:
            yield from self.context
        yield from map(str, self.violations)
        yield from self.retry
        for error in self.inner:
            yield from error.lines()


def _side_by_side(values: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for value in values:
        if lines and len(lines[-1]) + len(value) < MAX_VALUE:
            lines[-1] += f", {value}"
        else:
            lines.append(value)
    return lines


def _describe_wrapper(outer: Error, inner: Error) -> str:
    said = outer.message if outer.message and outer.message not in inner.message else ""
    code = outer.code if outer.code and outer.code != inner.code and inner.code else ""
    if said and inner.message and inner.message in said:
        said = ""
    return f"in {code}: {said}" if code and said else said or (f"in {code}" if code else "")


def _is_generic(error: Error) -> bool:
    return not error.code or GENERIC_CODES.search(error.code) is not None


def _key_inside(error: Error) -> str:
    said = f"{error.code} {error.message or key_of(error.violations)}".strip()
    return " / ".join(filter(None, (said, *error.words, *sorted(map(_key_inside, error.inner)))))


def _build_key(head: Error, rest: Sequence[Error]) -> str:
    inside = sorted(filter(None, {_key_inside(error) for error in rest}))
    parts = [*head.words, *inside]
    if head.violations:
        said = "" if _is_generic(head) or head.violations[0].path in head.message else head.message
        return " | ".join(filter(None, (said, key_of(head.violations), *parts)))
    return " | ".join((head.message or head.code, *parts)) if parts else ""
