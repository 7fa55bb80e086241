"""Errors of git, of the hooks it runs, and of pre-commit."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.format import Format, Hint
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.statements import StatementTable, is_telling
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from otel_errcompact.extract.text import Text


_TYPES: Final = StatementTable(
    ("NotARepository", r"not a git repository"),
    ("DubiousOwnership", r"detected dubious ownership"),
    ("LockExists", r"Unable to create '.{1,500}\.lock'"),
    ("PathspecError", r"(?:pathspec '|'.{1,300}' did not match any file|invalid reference: )"),
    ("UnknownRevision", r"(?:ambiguous argument '|bad (?:revision|object) |unknown revision|Needed a single revision)"),
    ("PatchFailed", r"(?:patch failed: |corrupt patch|.{1,300}: patch does not apply|No valid patches)"),
    (
        "AuthenticationFailed",
        (
            r"(?:Authentication failed|could not read (?:Username|Password)|Invalid username or password"
            r"|Permission to .{1,200} denied|.{1,200}: Permission denied \(publickey|Host key verification failed)"
        ),
    ),
    (
        "RemoteError",
        (
            r"(?:unable to access '|unable to (?:connect|look up)|Could not read from remote"
            r"|'.{1,300}' does not appear to be a git repository|repository '.{1,400}' not found"
            r"|couldn't find remote ref|No such remote|ssh: )"
        ),
    ),
    (
        "UncleanWorktree",
        (
            r"(?:Your local changes|The following untracked|Entry '.{1,300}' not uptodate|cannot (?:pull|rebase"
            r"|switch)|[Yy]ou have unstaged|Please commit|Committing is not possible|Pulling is not possible"
            r"|Merging is not|You have not concluded|Exiting because of|the following files? ha(?:s|ve) )"
        ),
    ),
    ("UsageError", r"(?:unrecognized argument|unknown (?:option|switch|style|subcommand)|.{1,40} requires a value)"),
)
_OWN_ERROR: Final = lazy_pattern(
    r"error: (?:pathspec '|patch failed: |corrupt patch|.{1,300}: patch does not apply|could not (?:apply|lock"
    r"|write|read|commit|revert|detach|resolve host) |Your local changes|The following untracked|src refspec"
    r"|cannot (?:pull|rebase|lock ref)|[Yy]ou have |Committing is not|Pulling is not|Merging is not|Entry '"
    r"|unable to (?:unlink|create|write|resolve reference|delete)|remote .{1,200} already exists|No such remote"
    r"|branch '.{1,200}' not found|The branch '|unknown (?:option|switch) `|gpg failed|the following files? ha"
    r"|object file|bad signature|invalid object|RPC failed|insufficient permission|unrecognized (?:input|argument)"
    r"|tag '.{1,200}' not found|.{1,300}: does not (?:exist in|match) index)"
)
_REJECTED: Final = lazy_pattern(
    r" ! \[(?P<kind>(?:remote )?rejected"
    r"|remote failure)\] {1,20}(?P<refs>[^(]{1,300}?)(?: \((?P<reason>.{1,300})\))?$"
)
_CONFLICT: Final = lazy_pattern(r"(?:Rebasing \([0-9/]{1,20}\))?CONFLICT \([^)]{1,60}\): (?P<message>.{1,600})")
_COMMIT: Final = lazy_pattern(r" in [0-9a-f]{7,40} (?P<subject>\([^)]{1,200}\))")
_VERSION_LEFT: Final = lazy_pattern(r"\. {1,2}Version .{1,300} left in tree\.$")
_FILTER: Final = lazy_pattern(r"(?:Error downloading object: .{1,300}?: )?Smudge error: (?P<message>.{1,600})")
_OBJECT: Final = lazy_pattern(r" \([0-9a-f]{7,64}\)")
_IN_FILE: Final = lazy_pattern(r"Merge conflict in (?P<file>.{1,400})$")
_MARKER: Final = lazy_pattern(r"[+ -]{0,3}(?P<mark><{7}|\|{7}|={7}|>{7})(?: (?P<name>\S.{0,200}))?$")
MAX_HUNK: Final = 4
"""Lines of one side of a conflict that are shown."""

_PATCH: Final = lazy_pattern(r"patch failed: (?P<file>.{1,400}):(?P<line>[0-9]{1,9})$")
_CONSEQUENCES: Final = ("Could not read from remote repository", "Exiting because of", "the remote end hung up")
_CHATTER: Final = ("Cloning into", "Warning: Permanently added")
_NOTHING: Final = ("nothing to commit", "nothing added to commit", "no changes added to commit")
_VERDICTS: Final = ("Passed", "Failed", "Skipped")
_HOOK: Final = lazy_pattern(r"\S[^.]{0,200}\.{3,200}(?:\([^)]{1,80}\))?(?:Passed|Failed|Skipped)$")
_HOOK_FACT: Final = lazy_pattern(
    r"- (?P<what>hook id|exit code|duration|files were modified by this hook)(?:: (?P<value>.{1,200}))?$"
)
_HUSKY: Final = lazy_pattern(
    r"husky - (?P<hook>[\w-]{1,40}) (?:hook exited with code|script failed \(code) (?P<code>[0-9]{1,9})"
)


class _Side(NamedTuple):
    """One side of a hunk in conflict."""

    name: str
    lines: list[str]


def read(text: Text) -> Facts | None:
    """Return the facts of what git or one of its hooks refused."""
    lines = text.lines
    body = text.body
    if "hook" in body and (hooks := [*_read_pre_commit(lines), *_read_husky(lines)]):
        return facts_of_members(hooks, unit="hook")
    conflicts = _conflicts(lines) if "CONFLICT (" in body else None
    return conflicts or _rejected(lines) or _read_statement(lines) or _nothing(lines)


# --- what git says ---------------------------------------------------------------------------------------------------


def _conflicts(lines: Sequence[str]) -> Facts | None:
    """Read the conflicts of a merge, a rebase or a cherry-pick: all files in one sentence."""
    found = [
        _COMMIT.sub(r" in \g<subject>", _VERSION_LEFT.sub("", match["message"]))
        for line in lines
        if "CONFLICT (" in line and (match := _CONFLICT.match(line))
    ]
    if not found:
        return None
    files = [match["file"] for message in found if (match := _IN_FILE.match(message))]
    others = [message for message in found if not _IN_FILE.match(message)]
    sentences = [f"merge conflict in {', '.join(files)}", *others] if files else others
    outcome = (line for line in lines if line.startswith("error: could not apply"))
    return Facts(
        type="MergeConflict",
        cause=clip("; ".join(sentences)),
        location=Location(file=files[0]) if len(found) == len(files) == 1 else NOWHERE,
        details=details((*outcome, *_read_hunks(lines))),
        members=len(found),
        tally=f"{len(found)} conflicts" if len(found) > 1 else "",
    )


def _read_hunks(lines: Sequence[str]) -> Iterator[str]:
    """Yield the sides of conflicts that are short enough to be decided on at sight."""
    sides: list[_Side] = []
    for line in lines:
        found = _MARKER.match(line)
        if found is None:
            if sides:
                sides[-1].lines.append(line.lstrip("+- ").strip())
            continue
        mark, name = found["mark"][0], found["name"] or ""
        if mark == "<":
            sides = [_Side(name or "ours", [])]
        elif sides and mark == ">":
            sides[-1] = sides[-1]._replace(name=name or "theirs")
            if all(len(side.lines) <= MAX_HUNK for side in sides):
                yield from (f"{name}: {' / '.join(said) or '(nothing)'}" for name, said in sides)
            sides = []
        elif sides:
            sides.append(_Side("base", []))


def _rejected(lines: Sequence[str]) -> Facts | None:
    """Read a push that the remote, or git itself, did not accept."""
    found = next((match for line in lines if line.startswith(" ! [") and (match := _REJECTED.match(line))), None)
    if found is None:
        return None
    remote = [said for line in lines if line.startswith("remote: ") and (said := line[8:].strip(" =*-"))]
    telling = next((said for said in remote if said.startswith(("error:", "fatal:", "ERROR:"))), "")
    why = f": {telling or remote[0]}" if remote else ""
    reason = f" ({found['reason']})" if found["reason"] else ""
    return Facts(
        type="PushRejected",
        cause=clip(f"{found['refs']} {found['kind']}{reason}{why}"),
        details=details((*(said for said in remote if said not in why), _hint(lines))),
    )


def _read_statement(lines: Sequence[str]) -> Facts | None:
    """Read the first line with which git gives up, and what it advises."""
    stated = [number for number, line in enumerate(lines) if _is_stated(line)]
    if not stated:
        return None
    message, at = _smudged(lines, stated[0]) or _first_telling(lines, stated)
    others = (lines[number] for number in stated if number != at and not _is_consequence(lines[number]))
    advice = (line.strip() for line in lines if line.startswith(("    git ", "\tgit ")))
    return Facts(
        type=_TYPES.type_of(message) or "GitError",
        cause=clip(message),
        location=_place(message),
        details=details((*advice, *others, _hint(lines))),
    )


def _smudged(lines: Sequence[str], first: int) -> tuple[str, int] | None:
    """Return why a filter could not fetch a file, which git only says it could not apply."""
    for line in lines[:first]:
        found = _FILTER.match(line) if "Smudge error: " in line else None
        if found is not None:
            return _OBJECT.sub("", found["message"]), len(lines) - 1 if first == len(lines) else first
    return None


def _is_stated(line: str) -> bool:
    if line.startswith("fatal: "):
        return not line.startswith("fatal: [")  # which is Ansible's
    return line.startswith("error: ") and _OWN_ERROR.match(line) is not None


def _first_telling(lines: Sequence[str], stated: Sequence[int]) -> tuple[str, int]:
    """
    Return the first message that is no mere consequence of what the transport said before it, and its line's number.
    """
    for number in stated:
        if not _is_consequence(lines[number]):
            return _add_files(lines[number].partition(": ")[2], lines[number + 1 :]), number
    first = stated[0]
    said = next((line for line in reversed(lines[:first]) if line and not line.startswith(_CHATTER)), "")
    message = said.removeprefix("remote: ").removeprefix("ERROR: ") or lines[first].partition(": ")[2]
    return message, first


def _is_consequence(line: str) -> bool:
    return line.partition(": ")[2].startswith(_CONSEQUENCES)


def _add_files(message: str, after: Sequence[str]) -> str:
    """Return a message with the list of files that follows its colon."""
    if not message.endswith(":"):
        return message
    files = list(takewhile(lambda line: line.startswith(("\t", "    ")), after))
    return f"{message} {', '.join(map(str.strip, files))}" if files else message


def _place(message: str) -> Location:
    found = _PATCH.match(message)
    return Location(file=found["file"], line=int(found["line"])) if found else NOWHERE


def _hint(lines: Sequence[str]) -> str:
    """Return the first sentence of git's hints."""
    hint = " ".join(line[6:] for line in lines if line.startswith("hint: "))
    return hint.partition(". ")[0]


def _nothing(lines: Sequence[str]) -> Facts | None:
    """Read a commit without anything to commit."""
    last = lines[-1]
    if not last.startswith(_NOTHING):
        return None
    return Facts(type="NothingToCommit", cause=last.partition(" (use")[0])


# --- hooks -----------------------------------------------------------------------------------------------------------


def _read_pre_commit(lines: Sequence[str]) -> Iterator[Member]:
    """Yield the hooks that failed, of those that pre-commit ran."""
    starts = [number for number, line in enumerate(lines) if line.endswith(_VERDICTS) and _HOOK.match(line)]
    for start, end in pairwise((*starts, len(lines))):
        if lines[start].endswith("Failed"):
            name = lines[start].partition("..")[0]
            yield _hook(name, lines[start + 1 : end])


def _hook(name: str, block: Sequence[str]) -> Member:
    found = [match for line in block[:5] if (match := _HOOK_FACT.match(line))]
    facts: dict[str, str] = {match["what"]: match["value"] or "" for match in found}
    output = [line for line in block if not _HOOK_FACT.match(line)]
    name = facts.get("hook id") or name
    modified = "files were modified by this hook" if "files were modified by this hook" in facts else ""
    return _read_hook_output(name, output, modified or f"exit code {facts.get('exit code') or 1}")


def _read_husky(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in enumerate(lines):
        found = _HUSKY.match(line) if line.startswith("husky - ") else None
        if found is not None:
            yield _read_hook_output(found["hook"], lines[:number], f"exit code {found['code']}")
            return


def _read_hook_output(name: str, output: Sequence[str], outcome: str) -> Member:
    """Return what a hook failed of, as its output tells it."""
    facts = facts_of_output(output)
    if facts is not None:
        return Member(facts.type, facts.cause, facts.location, name, facts.details, facts.key_cause)
    said = [line.strip() for line in output if line.strip()]
    telling = next((line for line in said if is_telling(line)), said[0] if said else f"hook {name}: {outcome}")
    return Member("HookFailed", telling, name=name, details=(outcome, *(line for line in said if line != telling))[:4])


FORMAT: Final = Format(
    name="git",
    read=read,
    markers=("fatal: ", "error: ", "CONFLICT (", "hook", "to commit"),
    programs=("git", "pre-commit", "lefthook"),
    closings=(
        (
            r"error: (?:Pulling|Merging|Committing|Cherry-picking|Reverting|you need|insufficient|bad |invalid "
            r"|unknown |short )"
        ),
        r"fatal: \S",
        (
            r"error: (?:cannot |could not |unable to |failed to |pathspec |src refspec |Your local changes"
            r"|The following untracked|RPC failed|remote |object |refname |branch |No such remote|patch failed"
            r"|corrupt)"
        ),
        r"Automatic merge failed; ",
        r"- hook id: \S{1,100}\n(?:- duration: [^\n]{1,40}\n)?- (?:exit code: [1-9]|files were modified by)",
        r" ! \[(?:remote )?rejected\] ",
        r"error: failed to push some refs to ",
        r"CONFLICT \([a-z/]{1,40}\): ",
    ),
    hints=(
        Hint(
            "another git process is running or was killed: if none runs, remove the lock file",
            (r"index\.lock",),
            ("git", "Unable to create '/app/.git/index.lock': File exists."),
            is_weak=True,
        ),
    ),
)
