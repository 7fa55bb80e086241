"""Errors of git, of the hooks it runs, and of pre-commit."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.errors import NOWHERE, Facts, Location
from otel_errcompact.extract.clipping import clip, details
from otel_errcompact.extract.format import Format, Hint
from otel_errcompact.extract.grammar import (
    Command,
    Lines,
    Members,
    Rules,
    Text,
    find,
    find_all,
    find_blocks,
    form,
    place_of,
)
from otel_errcompact.extract.members import Member, facts_of_members, to_member
from otel_errcompact.extract.recognition import facts_of_output
from otel_errcompact.extract.statements import is_telling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TYPES: Final = Rules(r"""
NotARepository        not a git repository
DubiousOwnership      detected dubious ownership
LockExists            Unable to create '.{1,500}\.lock'
PathspecError         (?:pathspec '|'.{1,300}' did not match any file|invalid reference: )
UnknownRevision       (?:ambiguous argument '|bad (?:revision|object) |unknown revision|Needed a single revision)
PatchFailed           (?:patch failed: |corrupt patch|.{1,300}: patch does not apply|No valid patches)
AuthenticationFailed  (?:Authentication failed|could not read (?:Username|Password)|Invalid username or password
    |Permission to .{1,200} denied|.{1,200}: Permission denied \(publickey|Host key verification failed)
RemoteError           (?:unable to access '|unable to (?:connect|look up)|Could not read from remote
    |'.{1,300}' does not appear to be a git repository|repository '.{1,400}' not found|couldn't find remote ref
    |No such remote|ssh: )
UncleanWorktree       (?:Your local changes|The following untracked|Entry '.{1,300}' not uptodate|cannot (?:pull|rebase
    |switch)|[Yy]ou have unstaged|Please commit|Committing is not possible|Pulling is not possible|Merging is not
    |You have not concluded|Exiting because of|the following files? ha(?:s|ve) )
UsageError            (?:unrecognized argument|unknown (?:option|switch|style|subcommand)|.{1,40} requires a value)
""")
_OWN_ERROR: Final = form(
    r"error: (?:pathspec '|patch failed: |corrupt patch|.{1,300}: patch does not apply|could not (?:apply|lock"
    r"|write|read|commit|revert|detach|resolve host) |Your local changes|The following untracked|src refspec"
    r"|cannot (?:pull|rebase|lock ref)|[Yy]ou have |Committing is not|Pulling is not|Merging is not|Entry '"
    r"|unable to (?:unlink|create|write|resolve reference|delete)|remote .{1,200} already exists|No such remote"
    r"|branch '.{1,200}' not found|The branch '|unknown (?:option|switch) `|gpg failed|the following files? ha"
    r"|object file|bad signature|invalid object|RPC failed|insufficient permission|unrecognized (?:input|argument)"
    r"|tag '.{1,200}' not found|.{1,300}: does not (?:exist in|match) index)"
)
_REJECTED: Final = form(
    r" ! \[(?P<kind>(?:remote )?rejected|remote failure)\] {1,20}(?P<refs>[^(]{1,300}?)(?: \((?P<reason>.{1,300})\))?$"
)
_MAX_RULES: Final = 4
_RULE: Final = form(r"\bGH[0-9]{3}: ")
_CONFLICT: Final = form(r"(?:Rebasing \([0-9/]{1,20}\))?CONFLICT \([^)]{1,60}\): (?P<message>.{1,600})")
_COMMIT: Final = form(r" in [0-9a-f]{7,40} (?P<subject>\([^)]{1,200}\))")
_VERSION_LEFT: Final = form(r"\. {1,2}Version .{1,300} left in tree\.$")
_FILTER: Final = form(r"(?:Error downloading object: .{1,300}?: )?Smudge error: (?P<message>.{1,600})")
_OBJECT: Final = form(r" \([0-9a-f]{7,64}\)")
_IN_FILE: Final = form(r"Merge conflict in (?P<file>.{1,400})$")
_MARKER: Final = form(r"[+ -]{0,3}(?P<mark><{7}|\|{7}|={7}|>{7})(?: (?P<name>\S.{0,200}))?$")
MAX_HUNK: Final = 4
"""Lines of one side of a conflict that are shown."""

_PATCH: Final = form(r"patch failed: (?P<file>.{1,400}):{line}$")
_CONSEQUENCES: Final = ("Could not read from remote repository", "Exiting because of", "the remote end hung up")
_CHATTER: Final = ("Cloning into", "Warning: Permanently added")
_OWN: Final = ("Cloning into", "hint: ", "remote: ", "    git ", "\tgit ", "Error downloading object: ")
"""How lines begin beside a `fatal: ` that is git's."""

_NOTHING: Final = ("nothing to commit", "nothing added to commit", "no changes added to commit")
_HOOK: Final = form(r"(?P<name>\S[^.]{0,200})\.{3,200}(?:\([^)]{1,80}\))?(?P<verdict>Passed|Failed|Skipped)$")
_HOOK_FACT: Final = form(
    r"- (?P<what>hook id|exit code|duration|files were modified by this hook)(?:: (?P<value>.{1,200}))?$"
)
_MODIFIED: Final = "files were modified by this hook"
_HUSKY: Final = form(r"husky - (?P<hook>[\w-]{1,40}) (?:hook exited with code|script failed \(code) (?P<code>{number})")


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
    conflicts = _read_conflicts(lines) if "CONFLICT (" in body else None
    return conflicts or _read_rejected_push(lines) or _read_statement(lines) or _read_empty_commit(lines)


# --- what git says ---------------------------------------------------------------------------------------------------


def _read_conflicts(lines: Lines) -> Facts | None:
    # Read the conflicts of a merge, a rebase or a cherry-pick: all files in one sentence.
    said = (_VERSION_LEFT.sub("", match["message"]) for match in find_all(_CONFLICT, lines))
    found = [_COMMIT.sub(r" in \g<subject>", message) for message in said]
    if not found:
        return None
    files = [match["file"] for match in find_all(_IN_FILE, found)]
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


def _read_hunks(lines: Lines) -> Iterator[str]:
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


def _read_rejected_push(lines: Lines) -> Facts | None:
    # Read a push that the remote, or git itself, did not accept.
    found = find(_REJECTED, lines, " ! [")
    if found is None:
        return None
    remote = [said for line in lines if line.startswith("remote: ") and (said := line[8:].strip(" =*-"))]
    telling = [said for said in remote if said.startswith(("error:", "fatal:", "ERROR:"))] or remote[:1]
    if telling and _RULE.search(telling[0]):
        # A rule that was broken has a number, and a line of its own for each thing that it asks.
        telling += [line[8:].strip(" =*-") for line in lines if line.startswith(("remote: - ", "remote: error: "))]
    why = (
        f": {'; '.join(list(dict.fromkeys(telling))[:_MAX_RULES] if len(telling) > 1 else telling)}" if telling else ""
    )
    reason = f" ({found['reason']})" if found["reason"] else ""
    return Facts(
        type="PushRejected",
        cause=clip(f"{found['refs']} {found['kind']}{reason}{why}"),
        details=details((*(said for said in remote if said not in why), _find_hint(lines))),
    )


def _read_statement(lines: Lines) -> Facts | None:
    stated = [number for number, line in enumerate(lines) if _is_stated(line)]
    if not stated:
        return None
    message, at = _find_filter_error(lines, stated[0]) or _first_telling(lines, stated)
    others = (lines[number] for number in stated if number != at and not _is_consequence(lines[number]))
    advice = (line.strip() for line in lines if line.startswith(("    git ", "\tgit ")))
    return Facts(
        type=_TYPES.type_of(message) or ("GitError" if any(map(_is_own, lines)) else "fatal"),
        cause=clip(message),
        location=place_of(_PATCH.match(message)),
        details=details((*advice, *others, _find_hint(lines))),
    )


def _find_filter_error(lines: Lines, first: int) -> tuple[str, int] | None:
    # Return why a filter could not fetch a file, which git only says it could not apply.
    for line in lines[:first]:
        found = _FILTER.match(line) if "Smudge error: " in line else None
        if found is not None:
            return _OBJECT.sub("", found["message"]), len(lines) - 1 if first == len(lines) else first
    return None


def _is_stated(line: str) -> bool:
    if line.startswith("fatal: "):
        return not line.startswith("fatal: [")  # which is Ansible's
    return line.startswith("error: ") and _OWN_ERROR.match(line) is not None


def _is_own(line: str) -> bool:
    # `fatal: ` says many a program.
    return line.startswith(_OWN) or _OWN_ERROR.match(line) is not None


def _first_telling(lines: Lines, stated: Sequence[int]) -> tuple[str, int]:
    for number in stated:
        if not _is_consequence(lines[number]):
            return _add_files(lines[number].partition(": ")[2], lines[number + 1 :]), number
    first = stated[0]
    said = next((line for line in reversed(lines[:first]) if line and not line.startswith(_CHATTER)), "")
    message = said.removeprefix("remote: ").removeprefix("ERROR: ") or lines[first].partition(": ")[2]
    return message, first


def _is_consequence(line: str) -> bool:
    return line.partition(": ")[2].startswith(_CONSEQUENCES)


def _add_files(message: str, after: Lines) -> str:
    if not message.endswith(":"):
        return message
    files = list(takewhile(lambda line: line.startswith(("\t", "    ")), after))
    return f"{message} {', '.join(map(str.strip, files))}" if files else message


def _find_hint(lines: Lines) -> str:
    hint = " ".join(line[6:] for line in lines if line.startswith("hint: "))
    return hint.partition(". ")[0]


def _read_empty_commit(lines: Lines) -> Facts | None:
    # Read a commit without anything to commit.
    last = lines[-1]
    if not last.startswith(_NOTHING):
        return None
    return Facts(type="NothingToCommit", cause=last.partition(" (use")[0])


# --- hooks -----------------------------------------------------------------------------------------------------------


def _read_pre_commit(lines: Lines) -> Members:
    # Yield the hooks that failed, of those that pre-commit ran.
    for block in find_blocks(lines, _HOOK, most=len(lines)):
        if block.head["verdict"] == "Failed":
            yield _read_hook(block.head["name"], block.lines)


def _read_hook(name: str, block: Lines) -> Member:
    found = find_all(_HOOK_FACT, block[:5])
    facts: dict[str, str] = {match["what"]: match["value"] or "" for match in found}
    output = [line for line in block if not _HOOK_FACT.match(line)]
    outcome = _MODIFIED if _MODIFIED in facts else f"exit code {facts.get('exit code') or 1}"
    return _read_hook_output(facts.get("hook id") or name, output, outcome)


def _read_husky(lines: Lines) -> Members:
    for number, line in enumerate(lines):
        found = _HUSKY.match(line) if line.startswith("husky - ") else None
        if found is not None:
            yield _read_hook_output(found["hook"], lines[:number], f"exit code {found['code']}")
            return


def _read_hook_output(name: str, output: Lines, outcome: str) -> Member:
    facts = facts_of_output(output)
    if facts is not None:
        return to_member(facts, name)
    said = [line.strip() for line in output if line.strip()]
    telling = next((line for line in said if is_telling(line)), said[0] if said else f"hook {name}: {outcome}")
    return Member("HookFailed", telling, name=name, details=(outcome, *(line for line in said if line != telling))[:4])


FORMAT: Final = Format(
    name="git",
    read=read,
    markers=("fatal: ", "error: ", "CONFLICT (", "hook", "to commit"),
    rejects=(r"git: '[^']{1,100}' is not a git command\b",),
    commands=(
        Command("git", subcommands="*", scopes="--git-dir", texts="-c -n -m", speaks="git"),
        Command("git remote, git submodule, git worktree, git lfs, git bisect", subcommands="*"),
        Command("git stash", subcommands="*", helps=True, reads=True),
        Command("git log", helps=True, reads=True),
        Command("git diff", helps=True, reads=True, answers=(1,)),
        Command("git grep", reads=True, answers=(1,)),
        Command("git show, git blame", reads=True),
        Command("git add, git status", helps=True),
        Command("git show-ref, git check-ignore", answers=(1,)),
        Command("git check-ref-format", answers=(1,), asks="--branch"),
        Command("git cat-file", asks="-e"),
        Command("git config", asks="--get --get-all --get-regexp --get-urlmatch get", looks_up=True),
        Command("git merge-base", asks="--is-ancestor"),
        Command("git rev-parse", asks="--verify -q --quiet"),
        Command("git symbolic-ref", asks="-q --quiet"),
        Command("git ls-files", asks="--error-unmatch"),
        Command("git ls-remote", asks="--exit-code"),
        Command("pre-commit", prints="git findings", subcommands="*", runs_any=True),
        Command("pre-commit run", subcommands="*"),
        Command("lefthook"),
    ),
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
