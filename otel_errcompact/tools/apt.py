"""Errors of apt and dpkg, dnf and yum, apk, brew and pacman."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from otel_errcompact.extract.format import Format
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Lines,
    Members,
    Rules,
    Text,
    find,
    find_all,
    find_blocks,
    form,
)
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import member_of_output

_STATED: Final = form(r"(?P<severity>[EW]): (?P<message>[A-Z].{1,2000})")
_FETCH: Final = form(r"Failed to fetch (?P<url>\S{1,1000}) {1,4}(?P<reason>\S.*)")
_ERR: Final = form(r"Err:{number} (?P<url>\S{1,1000})(?: (?P<suite>\S{1,100}))?")
_IP: Final = form(r" ?\[IP: [^\]]{1,80}\]")
_SUITE: Final = form(r"/dists/(?P<suite>[^/]{1,100})/")
_AGAIN: Final = "Unable to connect to "
_FIRST: Final = ("Could not ", "Temporary failure", "Connection ")
_CONSEQUENCES: Final = (
    "Some index files failed", "Unable to fetch some archives", "Sub-process ",
    "Unable to acquire the dpkg frontend lock", "Unable to lock the administration", "Unable to correct problems",
    "Couldn't rebuild package cache", "The list of sources could not be read",
)  # fmt: skip
_TYPES: Final = Rules(r"""
PackageNotFound  Unable to locate package|Couldn't find any package|Package '
VersionNotFound  Version '|Release '
LockHeld         Could not get lock
EACCES           Could not open lock file
RepositoryError  The repository[ ]
SignatureError   GPG error
UsageError       Invalid operation|Command line option
""")
_WARNINGS: Final = ("GPG error", "Failed to fetch")
_UNMET: Final = "The following packages have unmet dependencies:"
_NEED: Final = form(
    r" {1,80}(?:(?P<package>{word}) ?: )?(?P<need>(?:Pre)?(?:Depends|Recommends|Conflicts|Breaks|Replaces): .{1,400})"
)
_DPKG: Final = form(r"dpkg: error processing (?:package|archive) (?P<what>{word}) \(--\w{1,30}\):$")
_DPKG_STATED: Final = form(
    r"dpkg(?:-deb|-query)?: (?:error: (?!processing )|unrecoverable fatal error, )(?P<message>.{1,600})"
)
_DPKG_NEEDS: Final = form(r"dpkg: dependency problems prevent configuration of (?P<what>{word}):$")
_BEGINNING: Final = ("Setting up ", "Unpacking ", "Preparing to unpack ", "Removing ", "(Reading database")
_OTHERS: Final = Rules(r"""
DnfError     Error: (?P<message>Unable to find a match: .{1,300}|No (?:package|match).{1,300}
    |There are no enabled repositories.{0,300}|Failed to download metadata for repo .{1,600}
    |Cannot find a valid baseurl .{1,300}|Cannot retrieve repository metadata .{1,300}|Nothing to do)
DnfError     [ ]Problem(?: [0-9]{1,3})?: {message}
ApkError     ERROR: (?P<message>(?:unable to select packages|Unable to lock database
    |[Uu]nsatisfiable constraints).{0,300})
BrewError    (?:Error|Warning): (?P<message>No (?:available formula|formulae|casks|similarly named).{1,400}
    |Cask '.{1,300}|{word}: no bottle available!|.{1,200}: (?:Failed to download resource
    |wrong number of arguments).{0,300})
PacmanError  error: (?P<message>target not found: .{1,300}|failed to (?:prepare|commit|synchronize|init) .{1,300})
""")
_OTHER_STARTS: Final = ("Error: ", "ERROR: ", "error: ", "Warning: ", " Problem")


def read(text: Text) -> Facts | None:
    """Return the facts of what a package manager of the system could not do; mirrors that fail alike are one cause."""
    lines = text.lines
    members = (
        [*(_read_dpkg(lines) if "dpkg" in text.body else ()), *_read_unmet_needs(lines)]
        or _read_apt(lines)
        or list(_read_others(lines))
    )
    return facts_of_members(members, unit="error", first_is_root=True)


# --- apt -------------------------------------------------------------------------------------------------------------


def _read_apt(lines: Lines) -> list[Member]:
    # Return what apt states, without what only follows from it.
    kept = [
        found
        for found in find_all(_STATED, lines)
        if found["severity"] == "E" or found["message"].startswith(_WARNINGS)
    ]
    members = [_build_member(found["message"]) for found in kept if not found["message"].startswith(_CONSEQUENCES)]
    members = members or list(_read_progress(lines)) or [_build_member(found["message"]) for found in kept]
    return _keep_first_reason(members)


def _build_member(message: str) -> Member:
    fetch = _FETCH.match(message)
    if fetch is not None:
        return _build_fetch_error(fetch["url"], fetch["reason"])
    return Member(_TYPES.type_of(message) or "AptError", message)


def _build_fetch_error(url: str, reason: str) -> Member:
    # Return a download that failed; the reason is the cause, since mirrors and files differ.
    reason = " ".join(_IP.sub("", reason).split()).rstrip(": ")
    suite = _SUITE.search(url)
    host = url.partition("://")[2].partition("/")[0]
    return Member("FetchError", reason, name=f"{host} {suite['suite'] if suite else url.rpartition('/')[2]}")


def _read_progress(lines: Lines) -> Members:
    # Yield the downloads that failed where only the progress of apt is left.
    for line, after in zip(lines, (*lines[1:], ""), strict=True):
        found = _ERR.match(line) if line.startswith("Err:") else None
        if found is not None and after.startswith("  "):
            yield _build_fetch_error(f"{found['url']}/dists/{found['suite'] or ''}/", after)


def _keep_first_reason(members: list[Member]) -> list[Member]:
    # Give downloads from a host that was not tried again the reason of the first try.
    first = next((member for member in members if member.cause.startswith(_FIRST)), None)
    if first is None:
        return members
    return [member._replace(cause=first.cause) if member.cause.startswith(_AGAIN) else member for member in members]


def _read_unmet_needs(lines: Lines) -> Members:
    if _UNMET not in lines:
        return
    package, needs = "", list[str]()
    block = takewhile(lambda found: found is not None, map(_NEED.match, lines[lines.index(_UNMET) + 1 :]))
    for found in filter(None, block):
        if found["package"] and needs:
            yield Member("UnmetDependencies", f"{package}: {'; '.join(needs)}")
            needs = []
        package = found["package"] or package
        needs.append(found["need"])
    if needs:
        yield Member("UnmetDependencies", f"{package}: {'; '.join(needs)}")


# --- dpkg ------------------------------------------------------------------------------------------------------------


def _read_dpkg(lines: Lines) -> Members:
    # Yield the packages that dpkg could not process; what stands between two of them is the output of their scripts.
    start = 0
    for number, line in enumerate(lines):
        if line.startswith(_BEGINNING):
            start = number + 1
        found = _DPKG.match(line) if line.startswith("dpkg: ") else None
        if found is not None:
            yield _read_package_error(found["what"], lines[start:number], lines[number + 1 :])
            start = number + 2
    if start == 0:
        yield from (Member("DpkgError", found["message"]) for found in find_all(_DPKG_STATED, lines, "dpkg"))


def _read_package_error(package: str, output: Lines, after: Lines) -> Member:
    reason = after[0].strip() if after else ""
    needed = next(find_blocks(output, _DPKG_NEEDS, most=len(output)), None)
    if needed is not None:
        needs = [line.strip() for line in needed.lines if line.startswith(" ")]
        return Member("UnmetDependencies", " ".join(needs) or reason, name=package)
    stated = find(_DPKG_STATED, output)
    if stated is not None:
        return Member("DpkgError", stated["message"], name=package, details=(reason,))
    return member_of_output(output, package, reason, "DpkgError")


# --- others ----------------------------------------------------------------------------------------------------------


def _read_others(lines: Lines) -> Members:
    for number, line in enumerate(lines):
        stated = _OTHERS.read(line) if line.startswith(_OTHER_STARTS) else None
        if stated is not None:
            listed = [item.strip() for item in takewhile(lambda item: item.startswith("  "), lines[number + 1 :])]
            is_heading = stated.cause.endswith(":") and listed
            message = f"{stated.cause} {listed.pop(0)}" if is_heading else stated.cause
            yield Member(stated.type, message, details=tuple(listed[:3]))


FORMAT: Final = Format(
    name="apt",
    read=read,
    markers=("E: ", "W: ", "Err:", "dpkg", "rror: ", "ERROR: ", " Problem"),
    commands=(
        Command("apt, apt-get, dnf, yum, brew", subcommands="*", speaks="apt dnf yum"),
        Command("apk, pacman, snap"),
    ),
    closings=(
        r"E: \S",
        r"Error: (?:Unable to find a match|Failed to download|Nothing to do|No package|No available|No formula)",
        r"ERROR: unable to select packages",
        r"error: (?:target not found|failed to prepare|snap )",
        r"dpkg: error ",
    ),
)
