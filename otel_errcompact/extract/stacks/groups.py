"""Exception groups: one line for each distinct failure, its like folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.dedup.key import signature_of
from otel_errcompact.dedup.masking import mask
from otel_errcompact.errors import NOWHERE, Facts
from otel_errcompact.extract.clipping import MAX_CAUSE, clip, details
from otel_errcompact.extract.messages.message import read_message
from otel_errcompact.extract.reading import NO_MESSAGE
from otel_errcompact.extract.stacks.failure import Failure
from otel_errcompact.extract.stacks.folding import differ_in_names, fold
from otel_errcompact.extract.stacks.frames import Frame
from otel_errcompact.extract.stacks.places import Places
from otel_errcompact.extract.stacks.wrappers import extras_of, without_count, write_wrappers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.errors import Location

MAX_NAMED: Final = 4
"""Types that the head of a group names besides the first one."""

MAX_WRAPPERS: Final = 16
_END: Final = ".: "

_MAX_FURTHER: Final = 3
"""Lines of one child besides the one that states it."""

_MIN_REPEATED: Final = 24
"""Characters of a cause that are not repeated where the head holds them; fewer cost less than the words saved."""

_GENERIC: Final = ("unhandled errors in a TaskGroup", "Exceptions from Trio nursery", "multiple errors")


class Child(NamedTuple):
    """One exception of a group, or of a group inside it."""

    facts: Facts
    inside: str
    """The message of the inner group; empty for a child of the outer one."""


def facts_of_group(
    chain: Sequence[Failure], children: Sequence[Child], frame: Frame | None, wrappers: tuple[str, ...]
) -> Facts:
    """
    Return the facts of a group, or of its only distinct failure.

    The group is the last of the chain, with the exceptions around it before it and their types as `wrappers`.
    """
    classes = _classes_of(children)
    group = chain[-1]
    if len(classes) == 1:
        return _facts_of_only_class(chain, children, wrappers)
    message = without_count(read_message(group.message).cause)
    location = frame.place() if frame is not None else NOWHERE
    kinds = _merge_classes(list(classes.values()))
    main = max(kinds, key=len)
    cause = _write_cause(message, main, kinds)
    lines = [
        *_write_kinds(kinds, message, cause, Places(location)),
        *extras_of(chain),
        *write_wrappers(chain, message, frame, Places(location)),
    ]
    return Facts(
        type=group.type,
        cause=cause,
        location=location,
        details=details(lines),
        wrappers=wrappers,
        key_cause=" + ".join(sorted(classes)),
    )


def _classes_of(children: Sequence[Child]) -> dict[str, list[Child]]:
    classes: dict[str, list[Child]] = {}
    for child in children:
        facts = child.facts
        signature = signature_of(facts.type, facts.keyed_location, mask(facts.keyed_cause))
        classes.setdefault(signature, []).append(child)
    return classes


def _merge_classes(classes: Sequence[list[Child]]) -> list[list[Child]]:
    kinds: list[list[Child]] = []
    for members in classes:
        facts = members[0].facts
        like = (kind for kind in kinds if _are_alike(kind[0].facts, facts))
        kind = next(like, None)
        if kind is None:
            kinds.append(list(members))
        else:
            kind.extend(members)
    return kinds


def _are_alike(one: Facts, other: Facts) -> bool:
    if (one.type, one.location) != (other.type, other.location) or one.details[_MAX_FURTHER:]:
        return False
    return differ_in_names(one.cause, other.cause)


def _write_cause(message: str, main: Sequence[Child], kinds: Sequence[Sequence[Child]]) -> str:
    facts = main[0].facts
    times = f"{len(main)} x " if len(main) > 1 else ""
    said = f"{message.rstrip(_END)}: " if message != NO_MESSAGE else ""
    also = _count_others(facts.type, [kind for kind in kinds if kind is not main])
    return clip(f"{said}{times}{_name_short(facts.type)}: {facts.cause}", MAX_CAUSE - len(also)) + also


def _count_others(known: str, kinds: Sequence[Sequence[Child]]) -> str:
    if not kinds:
        return ""
    types = list(dict.fromkeys(kind[0].facts.type for kind in kinds))
    names = ", ".join(map(_name_short, types[:MAX_NAMED])) + (", ..." if len(types) > MAX_NAMED else "")
    count = sum(map(len, kinds))
    return f"; and {count} other{'s' if count > 1 else ''}{f' ({names})' if types != [known] else ''}"


def _name_short(name: str) -> str:
    return name.rpartition(".")[2] or name


def _write_kinds(kinds: Sequence[Sequence[Child]], message: str, cause: str, places: Places) -> Iterator[str]:
    for members in kinds:
        facts = members[0].facts
        at = f" at {_name_place(facts.location, places)}" if facts.location else ""
        same = fold([child.facts.cause for child in members])
        inside = without_count(members[0].inside)
        within = f' (in "{inside}")' if _is_telling_name(inside, message) else ""
        said = "" if len(facts.cause) >= _MIN_REPEATED and facts.cause in cause else f": {facts.cause}"
        line = f"{facts.type}{at}{said}{f'; {same}' if same else ''}{within}"
        yield line if line != facts.type else ""
        yield from [line for line in facts.details if not line.startswith("> ")][:_MAX_FURTHER]


def _name_place(location: Location, places: Places) -> str:
    return places.name(Frame(location.file, location.line, location.function))


def _is_telling_name(inside: str, message: str) -> bool:
    return inside not in ("", message, NO_MESSAGE) and not inside.startswith(_GENERIC)


def _facts_of_only_class(chain: Sequence[Failure], children: Sequence[Child], wrappers: tuple[str, ...]) -> Facts:
    child, count = children[0].facts, len(children)
    same = fold([each.facts.cause for each in children]).rpartition("; ")[2]
    named = f": {same}" if same.startswith("same ") else ""
    mark = (f"{count} times in one {chain[-1].type}{named}",) if count > 1 else ()
    place = child.location
    frame = Frame(place.file, place.line, place.function) if place else None
    root = Failure(child.type, child.cause)
    around = write_wrappers((*chain, root), child.cause, frame, Places(place))
    return Facts(
        type=child.type,
        cause=child.cause,
        location=place,
        key_location=child.key_location,
        details=details((*mark, *child.details, *around)),
        wrappers=(*wrappers, chain[-1].type, *child.wrappers)[:MAX_WRAPPERS],
        key_cause=child.key_cause,
    )
