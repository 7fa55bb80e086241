"""Many failures in one output, told cause by cause."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.dedup.key import signature_of
from otel_errcompact.dedup.masking import mask
from otel_errcompact.dedup.outages import leave_place
from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import CUT, MAX_DETAIL, clip, details
from otel_errcompact.runtime.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_MEMBERS: Final = 300
"""Members that are looked at; further ones are only counted."""

MAX_NAMED: Final = 50
"""Members whose names the facts carry."""

_LONGEST_NAME: Final = 200

MAX_CAUSES: Final = 46
"""Causes of one output that are shown."""

MAX_PLACES: Final = 12
"""Members of a further cause that are named; of the first cause all are."""

_MAX_PLACE: Final = 80
_DETAILS_OF_FIRST: Final = 12
_DETAILS_OF_OTHERS: Final = 3
_FEW_CAUSES: Final = 8
"""Causes up to which each is told with details; beyond, the names of all matter more."""

_ROOM: Final = 2_000
"""Characters of further causes beyond which a digest has no room for all: the names of failed tests stand first."""

_MAX_LINES_OF_NAMES: Final = 16
_MAX_VARIANTS: Final = 4


class Member(NamedTuple):
    """
    One of several failures in one output: a test, an error, a finding.
    """

    type: str
    cause: str
    location: Location = NOWHERE
    """Where it failed; of a test, the innermost frame of the user's own code."""

    name: str = ""
    """What failed, where that has a name of its own: a test, a target, a package."""

    details: tuple[str, ...] = ()
    key: str = ""
    """The cause as it counts for the dedup key, where that is not the cause that is shown."""

    assertion: bool = False
    """Whether the failure is an expectation of its own place, so that equal words elsewhere are another failure."""

    output: Facts | None = None
    """The facts of the output that tells of the failure; with no failure beside it, they are those of the whole."""

    @property
    def keyed_cause(self) -> str:
        """The text whose template enters the dedup key."""
        return self.key or self.cause


@dataclass(slots=True, kw_only=True)
class _Cause:
    """Members that failed for one cause."""

    signature: str
    members: list[Member]

    @property
    def first(self) -> Member:
        """The member that is shown for all."""
        return self.members[0]

    @property
    def location(self) -> Location:
        """What the places of all members have in common."""
        place = self.first.location
        file = place.file if all(member.location.file == place.file for member in self.members) else ""
        same = file and all(member.location.function == place.function for member in self.members)
        if not same and len(self.members) > 1:
            return Location(file=file)
        return place


def to_member(facts: Facts, name: str = "", *before: str) -> Member:
    """Return facts as those of one failure among others."""
    return Member(facts.type, facts.cause, facts.location, name, (*before, *facts.details), facts.key_cause)


def facts_of_members(
    members: Iterable[Member],
    *,
    unit: str,
    total: int = 0,
    more: Iterable[str] = (),
    first_is_root: bool = False,
    are_alike: bool = False,
) -> Facts | None:
    """
    Return the facts of an output that reports several failures, if any.

    Members with one cause are one failure. The cause that most members have is the cause of the output; others follow
    as details, one line each. The tool itself counts a `total`; where failures `are_alike`, those that are only counted
    failed as the members did.

    A suite is keyed by its leading cause: which tests are red beside it changes from run to run. `first_is_root`, as
    with compilers, says that the first tends to cause the others: then the key follows the set of causes, in canonical
    order.
    """
    members = list(members)
    if not members:
        return None
    if len(members) == 1 and total <= 1 and (output := members[0].output) is not None:
        # The same failure has the same key, whoever ran the program.
        return replace(output, details=details((*members[0].details, *more)))
    causes = _causes_of(members[:MAX_MEMBERS])
    if not first_is_root:
        causes.sort(key=lambda cause: (-len(cause.members), cause.signature))
    head = causes[0]
    left = max(total - len(members), 0)
    several = len(causes) > 1
    is_set = several and first_is_root
    # Of failures that were cut out of the output the cause is unknown, and mostly another one.
    is_cut = left > 0 and not are_alike
    shown = len(head.members) if several or is_cut else len(members) + left
    missing = (f"{CUT} {left} more by the tool's count",) if is_cut else ()
    return Facts(
        type=head.first.type,
        cause=clip(head.first.cause),
        location=head.location,
        details=details((*_describe_head(head), *_list_other_causes(head, causes[1:]), *more, *missing)),
        # A cause that stands in several files is signed by what its places share, so that their order is no part.
        key_cause=" + ".join(sorted({_sign_cause(cause) for cause in causes})) if is_set else head.first.keyed_cause,
        key_is_whole=is_set,
        members=len(members) + left,
        unread=left if is_cut and len(members) < MAX_MEMBERS else 0,
        tally=_write_tally(shown, len(members) + left, unit),
        names=tuple(dict.fromkeys(clip(each.name, _LONGEST_NAME) for each in members[:MAX_NAMED] if each.name)),
    )


def _causes_of(members: Iterable[Member]) -> list[_Cause]:
    # Group members by cause: by place and template, or by the very same words wherever they are said.
    causes: dict[str, _Cause] = {}
    by_words: dict[tuple[str, str], _Cause] = {}
    templates: dict[str, str] = {}
    for member in members:
        words = (member.type, member.cause)
        cause = None if member.assertion else by_words.get(words)
        if cause is None:
            signature = _sign_member(member, templates)
            cause = causes.setdefault(signature, _Cause(signature=signature, members=[]))
            if not member.assertion:
                by_words[words] = cause
        cause.members.append(member)
    return list(causes.values())


def _sign_cause(cause: _Cause) -> str:
    if len(cause.members) == 1 or cause.first.assertion:
        return cause.signature
    return _sign_member(cause.first._replace(location=cause.location), {})


def _sign_member(member: Member, templates: dict[str, str]) -> str:
    said = member.keyed_cause
    template = templates.get(said)
    if template is None:
        # Most of the time of reading goes into templates, and members of one output often say the same.
        template = templates[said] = leave_place(mask(said))
    return signature_of(member.type, member.location, template)


def _write_tally(shown: int, total: int, unit: str) -> str:
    if total == 1:
        return ""
    return f"{total} {unit}s" if shown == total else f"{shown} of {total} {unit}s"


def _describe_head(head: _Cause) -> Iterator[str]:
    yield from _wrap_names(_names_of(head))
    yield from _list_variants(head)
    yield from head.first.details[:_DETAILS_OF_FIRST]


def _list_variants(head: _Cause) -> Iterator[str]:
    # Yield the expectations of one cause that are worded otherwise than the first, each with its name.
    differing = [member for member in head.members if member.assertion and member.cause != head.first.cause]
    if not differing:
        return
    first = mask(head.first.cause)
    others = {words: member for member in differing if (words := mask(member.cause)) != first}
    for member in islice(others.values(), _MAX_VARIANTS):
        name = member.name or str(member.location)
        yield clip(f"{clip(name, _MAX_PLACE)}: {member.cause}" if name else member.cause, MAX_DETAIL)
    if len(others) > _MAX_VARIANTS:
        yield f"{CUT} {len(others) - _MAX_VARIANTS} more expectations"


def _list_other_causes(head: _Cause, causes: Sequence[_Cause]) -> Iterator[str]:
    shown = causes[:MAX_CAUSES]
    lines = [line for cause in shown for line in _describe_cause(cause, head, len(causes))]
    members = [member for cause in causes for member in cause.members]
    if sum(map(len, lines)) > _ROOM and all(member.name for member in members):
        yield from _wrap_names(list(_short_names(members, NOWHERE)), "also in")
        lines = [line for cause in shown for line in _describe_cause(cause, head, len(causes), is_named=True)]
    yield from lines
    if len(causes) > len(shown):
        yield f"{CUT} {len(causes) - len(shown)} more causes"


def _describe_cause(cause: _Cause, head: _Cause, causes: int, *, is_named: bool = False) -> Iterator[str]:
    folder = _find_folder(head.first.location.file)
    names = [] if is_named else _list_places(cause, besides=head)
    line = _write_line(cause, ", ".join(names), folder, is_named=is_named)
    if len(line) <= MAX_DETAIL or len(cause.members) == 1:
        yield line
    else:
        yield _write_line(cause, "", folder)
        yield from _wrap_names(names)
    details = cause.first.details
    most = _DETAILS_OF_OTHERS if causes < _FEW_CAUSES else 1
    if most > 1:  # both sides of what is compared stay together
        most = max(most, sum(line.startswith(("- ", "+ ")) for line in details))
    yield from details[:most]
    if len(details) > most > 1:
        yield f"{CUT} {len(details) - most} more lines of this one"


def _write_line(cause: _Cause, names: str, folder: str, *, is_named: bool = False) -> str:
    # Return a cause in one line; of a place in the folder that was named before, the folder is left out.
    first, count = cause.first, len(cause.members)
    place = str(cause.location) or (first.name if count == 1 else "")
    if count > 1 and names and not first.name and not cause.location.function:
        place = ""
    elif folder and not first.name and not cause.location.function and _find_folder(cause.location.file) == folder:
        place = place.removeprefix(folder)
    at = f" at {clip(place, _MAX_PLACE)}" if place else ""
    if count == 1 and not is_named and first.name and first.name not in place and not _names_in(place, first.name):
        at = f"{at} in {clip(first.name, _MAX_PLACE)}"
    times = f" ({count}x{f': {names}' if names else ''})" if count > 1 else ""
    return clip(f"{first.type}{at}: {first.cause}", MAX_DETAIL - (0 if names else len(times))) + times


def _names_in(place: str, name: str) -> bool:
    # A test's own function is its name already, without the class and the parameters.
    return bool(place) and name.partition("[")[0].rpartition(".")[2].rpartition("::")[2] in place and "[" not in name


def _wrap_names(names: Sequence[str], begin: str = "in") -> Iterator[str]:
    # Yield names in lines, the first of which begins with `begin`.
    line, left = begin, _MAX_LINES_OF_NAMES
    for number, name in enumerate(names):
        if len(line) + len(name) > MAX_DETAIL - 4:
            yield line
            left -= 1
            if not left:
                yield f"{CUT} {len(names) - number} more"
                return
            line = ""
        comma = "," if number + 1 < len(names) else ""
        line = f"{line} {name}{comma}".lstrip()
    if names:
        yield line


def _names_of(cause: _Cause, besides: _Cause | None = None) -> list[str]:
    if len(cause.members) == 1:
        name = cause.first.name
        return [name] if name and name not in str(cause.location) else []
    distinct = {member.name or str(member.location): member for member in cause.members}
    return list(_short_names(distinct.values(), besides.first.location if besides else NOWHERE))


def _list_places(cause: _Cause, besides: _Cause) -> list[str]:
    if len(cause.members) == 1:
        return _names_of(cause)
    if _are_in_files_of(cause, besides):
        lines = [str(member.location.line) for member in cause.members]
        return [f"same files: {lines[0]}", *(lines[1:] if len(set(lines)) > 1 else ())]
    names = _names_of(cause, besides)
    left = [f"{CUT} {len(names) - MAX_PLACES} more"] if len(names) > MAX_PLACES else []
    return [*names[:MAX_PLACES], *left]


def _are_in_files_of(cause: _Cause, other: _Cause) -> bool:
    # Tell whether members stand in the same few files, in the same order, as those of another cause.
    files = [member.location.file for member in cause.members]
    return (
        1 < len(files) <= MAX_PLACES
        and len(set(files)) > 1
        and all(member.location.line is not None and not member.name for member in cause.members)
        and files == [member.location.file for member in other.members]
    )


def _short_names(members: Iterable[Member], before: Location) -> Iterator[str]:
    # Yield names and places, a place without what it has in common with the one before: `src/a.ts:4, 9, b.ts:2`.
    # Names have their places beside them where these are not the same: `test_a (a.ts:4), test_b (9)`.
    members = list(members)
    are_apart = len({(member.location.file, member.location.line) for member in members}) > 1
    file = ""
    for number, member in enumerate(members):
        place = member.location
        name = member.name or str(place)
        if member.name and are_apart and place.line is not None:
            at = str(place.line) if place.file == file else f"{place.file_name}:{place.line}"
            file = place.file
            yield f"{clip(name, _MAX_PLACE)} ({at})"
            continue
        if not member.name and not place.function and place.line is not None:
            if number and place.file == before.file:
                name = str(place.line)
            elif _find_folder(place.file) and _find_folder(place.file) == _find_folder(before.file):
                name = name[len(_find_folder(place.file)) :]
        before = place if not member.name else NOWHERE
        if name:
            yield clip(name, _MAX_PLACE)


def _find_folder(file: str) -> str:
    return file[: max(file.rfind("/"), file.rfind("\\")) + 1]
