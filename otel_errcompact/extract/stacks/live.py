"""Facts of a live exception: its frames are walked, no source is read and nothing is formatted."""

from __future__ import annotations

import linecache
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from otel_errcompact.extract.cleaning.characters import clean
from otel_errcompact.extract.stacks.attributes import attributes_of
from otel_errcompact.extract.stacks.callers import callers_of
from otel_errcompact.extract.stacks.failure import MAX_CHAIN, MAX_CHILDREN, MAX_DEPTH, Failure
from otel_errcompact.extract.stacks.frames import Frame, choose_own, is_own, is_own_frame, is_plumbing, only_checks
from otel_errcompact.extract.stacks.recursion import recursion_of
from otel_errcompact.runtime.foreign import attribute_of, module_of, qualname_of, string_of, traceback_of
from otel_errcompact.runtime.forks import FORKS_WAIT
from otel_errcompact.runtime.roots import ANYWHERE, CodeRoots, is_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

MAX_MESSAGE: Final = 2_000
"""Characters of a message that is taken as it is; a longer one is cleaned and cut like other text."""

MAX_EXTRA: Final = 16_384
"""Characters of a response's body or a command's output that are looked at: half from either end."""

MAX_FAILURES: Final = 1_000
"""Exceptions that are looked at in all chains and groups of one failure."""

_REMOTE: Final = ("RemoteTraceback", "_RemoteTraceback")


class _Seen(set[int]):
    """The ids of exceptions that were seen, and what those have been printed as."""

    messages: Mapping[int, str] = MappingProxyType({})
    roots: CodeRoots = ANYWHERE


def read_chain(
    exception: BaseException, messages: Mapping[int, str] | None = None, roots: CodeRoots = ANYWHERE
) -> tuple[Failure, ...]:
    """
    Return the chain of a live exception, outermost first.

    Chains of two occurrences of one failure with equal messages are equal. Of exceptions that were printed before,
    their own code is not run again: `messages` holds what was printed by their `id`.
    """
    seen = _Seen({id(exception)})
    seen.roots = roots
    if messages:
        seen.messages = messages
    try:
        if exception.__cause__ is None and exception.__context__ is None:
            return (_read_shown_failure(exception, seen, 0),)
        return _read_chain(exception, seen, 0)
    except Exception:  # noqa: BLE001 - an exception is the application's own code: its properties may raise anything
        own, innermost = _find_frames(traceback_of(exception), roots.configured)
        return (Failure(_write_type_name(type(exception)), clean(_read_message(exception, seen)), own, innermost),)


def loaded_line(frame: Frame) -> str:
    """Return a frame's source line out of the cache that formatting a traceback fills; no file is opened."""
    entry = cast("tuple[Any, ...]", linecache.cache.get(frame.file, ()))
    lines: list[str] = entry[2] if len(entry) > 2 else []  # noqa: PLR2004 - size, time, lines, name; lazy ones are shorter
    return lines[frame.line - 1].strip() if frame.line and 0 < frame.line <= len(lines) else ""


def context_of(exception: BaseException, frames: set[int]) -> BaseException | None:
    """
    Return the exception during whose handling another one was raised, if that handling is a part of what has failed.

    Python puts down whatever was being handled anywhere up the stack, also by code around the call that failed, which
    has nothing to do with it: a program may have found in an `except` that no event loop is running, and start its
    agent there. What a call has handled itself was caught in a frame that the failure has passed.

    Args:
        exception: The exception.
        frames: The ids of the frames that the failure has passed so far; those of `exception` are added.
    """
    context = None if exception.__suppress_context__ else exception.__context__
    if context is None or context.__traceback__ is None or exception.__traceback__ is None:
        return context
    frames.update(id(step.tb_frame) for step in _list_steps(exception.__traceback__))
    return context if id(context.__traceback__.tb_frame) in frames else None


def _list_steps(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _read_chain(exception: BaseException, seen: _Seen, depth: int) -> tuple[Failure, ...]:
    # Follow causes and contexts as Python prints them: each exception once, wherever it was `seen` first.
    frames: set[int] = set()
    following = _find_next_exception(exception, seen, frames)
    failure = _read_shown_failure(exception, seen, depth)
    if following is None:
        return (failure,)
    failures = [_mark_handler(failure, exception, following)]
    while following is not None and len(failures) < MAX_CHAIN:
        exception = following
        if type(exception).__name__ in _REMOTE:
            with FORKS_WAIT:
                from otel_errcompact.extract.stacks.python import chain_of

            return (*failures, *chain_of(string_of(exception)))
        following = _find_next_exception(exception, seen, frames)
        failures.append(_mark_handler(_read_shown_failure(exception, seen, depth), exception, following))
    return tuple(failures)


def _mark_handler(failure: Failure, exception: BaseException, following: BaseException | None) -> Failure:
    is_handler = following is not None and exception.__cause__ is not following
    return failure._replace(follows=True) if is_handler else failure


def _find_next_exception(exception: BaseException, seen: _Seen, frames: set[int]) -> BaseException | None:
    # Return the cause of `exception`, or the exception during whose handling it was raised.
    following = exception.__cause__
    if following is None or id(following) in seen:
        following = context_of(exception, frames)
    else:
        frames.update(id(step.tb_frame) for step in _list_steps(exception.__traceback__))
    if following is None or id(following) in seen or len(seen) > MAX_FAILURES:
        return None
    seen.add(id(following))
    return following


def _read_shown_failure(exception: BaseException, seen: _Seen, depth: int) -> Failure:
    return _show_in(_read_failure(exception, seen, depth), exception, seen.roots.directory)


def _read_failure(exception: BaseException, seen: _Seen, depth: int) -> Failure:
    kind = _kind_of(type(exception))  # type: ignore[arg-type] # mypy does not see that a class has a hash
    message = _build_message(exception, seen)
    own, innermost = _find_frames(exception.__traceback__, seen.roots.configured)
    if isinstance(exception, SyntaxError) and exception.lineno is not None:
        return _find_syntax_error(exception, Failure(kind.name, message, own, innermost))
    if isinstance(exception, RecursionError):
        recursion = recursion_of(_walk_frames(exception.__traceback__), is_own_frame)
        return Failure(kind.name, message, recursion.place if recursion else own, innermost, recursion=recursion)
    children = attribute_of(exception, "exceptions") if kind.is_group else None
    if children is not None:
        members = _read_children(children, seen, depth)
        return Failure(kind.name, message, own, innermost, "", members, attributes=attributes_of(exception, message))
    extra = "" if kind.is_builtin else _find_extra_text(exception, message)
    attributes = attributes_of(exception, message)
    if own is None or own is not innermost or not only_checks(own):
        return Failure(kind.name, message, own, innermost, extra, attributes=attributes)
    outer = (frame for frame in _inside_out(exception.__traceback__) if frame != own and not only_checks(frame))
    caller = choose_own(outer, is_own_frame, seen.roots.configured)
    return Failure(kind.name, message, own, innermost, extra, caller=caller, attributes=attributes)


class _Kind(NamedTuple):
    """What is the same for all exceptions of one type."""

    name: str
    is_builtin: bool
    is_group: bool


@lru_cache(maxsize=256)
def _kind_of(kind: type[BaseException]) -> _Kind:
    is_group = any(base.__name__ == "BaseExceptionGroup" for base in kind.__mro__)
    return _Kind(_write_type_name(kind), module_of(kind) == "builtins", is_group)


def _write_type_name(kind: type[BaseException]) -> str:
    module = module_of(kind)
    return qualname_of(kind) if module in {"builtins", "__main__"} else f"{module}.{qualname_of(kind)}"


def _find_frames(traceback: TracebackType | None, roots: tuple[str, ...]) -> tuple[Frame | None, Frame | None]:
    # Return the innermost own frame and the innermost frame, the same object where they are one.
    if traceback is None:
        return None, None
    last = traceback
    while last.tb_next is not None:
        last = last.tb_next
    innermost = _build_frame(last)
    if is_own(innermost.file, innermost.function) and (not roots or is_within(innermost.file, roots)):
        return innermost, innermost
    own = choose_own(_inside_out(traceback), is_own_frame, roots)
    own = innermost if own == innermost else own
    if own is None and (callers := callers_of(traceback)):
        code = callers[0].f_code
        own = Frame(code.co_filename, callers[0].f_lineno, code.co_name)
    return own, _find_working(traceback) if is_plumbing(innermost.file) else innermost


def _inside_out(traceback: TracebackType | None) -> Iterator[Frame]:
    yield from map(_build_frame, reversed(list(_list_steps(traceback))))


def _show_in(failure: Failure, exception: BaseException, directory: str) -> Failure:
    # Return a failure that is shown in the working directory, where its place lies outside and a caller within.
    if not directory or failure.own is None or is_within(failure.own.file, (directory,)):
        return failure
    calls = _inside_out(exception.__traceback__)
    within = (frame for frame in calls if is_own_frame(frame) and is_within(frame.file, (directory,)))
    return failure._replace(shown=next(within, None))


def _find_working(traceback: TracebackType | None) -> Frame | None:
    frames = [_build_frame(step) for step in _list_steps(traceback)]
    return next((frame for frame in reversed(frames) if not is_plumbing(frame.file)), None)


def _walk_frames(traceback: TracebackType | None) -> Iterator[tuple[Frame, int]]:
    while traceback is not None:
        yield _build_frame(traceback), 1
        traceback = traceback.tb_next


def _build_frame(traceback: TracebackType) -> Frame:
    code = traceback.tb_frame.f_code
    return Frame(code.co_filename, traceback.tb_lineno, code.co_name)


def _read_message(exception: BaseException, seen: _Seen) -> str:
    said = seen.messages.get(id(exception))
    return string_of(exception) if said is None else said


def _build_message(exception: BaseException, seen: _Seen) -> str:
    message = _read_message(exception, seen)
    notes = attribute_of(exception, "__notes__")
    if isinstance(notes, list | tuple):
        message = "\n".join((message, *map(string_of, cast("list[object]", notes)[:MAX_CHILDREN])))
    return message if len(message) <= MAX_MESSAGE and message.isprintable() else clean(message)


def _find_syntax_error(error: SyntaxError, failure: Failure) -> Failure:
    # Return the failure at the place that could not be compiled; code without a file lies where it was handed over.
    head, _, notes = failure.message.partition("\n")
    message = string_of(error.msg)
    place = Frame(string_of(error.filename or "<string>"), error.lineno, "", string_of(error.text or "").strip())
    message = f"{message}\n{notes}" if notes and head else message
    if place.file.startswith("<") and failure.own is not None:
        return failure._replace(message=message, extra=place.source)
    return failure._replace(message=message, own=place, innermost=place)


def _read_children(children: object, seen: _Seen, depth: int) -> tuple[tuple[Failure, ...], ...]:
    if depth >= MAX_DEPTH or not isinstance(children, list | tuple):
        return ()
    members = [
        child for child in cast("tuple[object, ...]", children)[:MAX_CHILDREN] if isinstance(child, BaseException)
    ]
    seen.update(map(id, members))
    chains = [_read_chain(child, seen, depth + 1) for child in reversed(members) if len(seen) <= MAX_FAILURES]
    return tuple(reversed(chains))


def _find_extra_text(exception: BaseException, message: str) -> str:
    # Return what the exception carries beyond its message: a response's body, or a command's standard error.
    response = attribute_of(exception, "response")
    if response is not None:
        return "" if "{" in message else _body_of(response)
    texts = (_decode_text(attribute_of(exception, name)) for name in ("body", "stderr", "output"))
    return "\n".join(filter(None, texts))


def _body_of(response: object) -> str:
    received = attribute_of(response, "_content")
    return _decode_text(attribute_of(response, "text") if received is None else received)


def _decode_text(value: object) -> str:
    half = MAX_EXTRA // 2
    if isinstance(value, bytes):
        value = value if len(value) <= MAX_EXTRA else b"\n".join((value[:half], value[-half:]))
        return value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return ""
    return value if len(value) <= MAX_EXTRA else f"{value[:half]}\n{value[-half:]}"
