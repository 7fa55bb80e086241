"""Errors of nix: of what it builds, and of what it evaluates."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Command, Facts, Format, Found, Members, Text, form, place_of
from otel_errcompact.extract.members import Member, facts_of_members
from otel_errcompact.extract.recognition import member_of_output
from otel_errcompact.runtime.records import replace

_BUILD: Final = form(
    r"(?m)^(?:error: )?(?:builder for|Cannot build) '/nix/store/[0-9a-z]{32}-(?P<name>[^'\n]{1,200})\.drv'(?: failed "
    r"|\.\n {7}Reason: )(?P<how>(?!{number} dependenc)[^;\n]{1,200});?$(?P<about>(?:\n {7}[^\n]{0,2000}){0,200})"
)
_EVALUATION: Final = form(
    r"(?m)^ {0,7}error: (?P<message>\S[^\n]{0,2000})\n\n? {7}at (?P<file>{word}):{line}:{number}:$"
    r"(?:(?:\n[^\n]{0,400}){0,4}?\n {8,16}(?P=line)\| (?P<source>[^\n]{1,400}))?"
)


def read(text: Text) -> Facts | None:
    """Return the facts of failed builds, or of a failed evaluation."""
    # Of a trace the last error is the one that the others wrap.
    members = [*_read_builds(text.body)] or [*map(_build_member, _EVALUATION.finditer(text.body))][-1:]
    return facts_of_members(members, unit="derivation", first_is_root=True)


def _read_builds(body: str) -> Members:
    # Nix repeats the log, or has marked its lines with the name, or has printed them since the build began.
    end = 0
    for found in _BUILD.finditer(body):
        name, above = found["name"], body[end : found.start()]
        repeated = [line[9:] for line in found["about"].split("\n") if line.startswith("       > ")]
        pairs = (line.partition("> ") for line in above.split("\n"))
        marked = [said for mark, _, said in pairs if mark and name.startswith(mark)]
        said = repeated or marked or above.rpartition("building '/nix/store/")[2].split("\n")
        member = member_of_output(said, name, f"{name}: {found['how']}", "NixError")
        key = f"{member.keyed_cause} ({name})"
        yield member._replace(key=key, output=member.output and replace(member.output, key_cause=key))
        end = found.end()


def _build_member(found: Found) -> Member:
    source = (f"> {found['source'].strip()}",) if found["source"] else ()
    return Member("NixError", found["message"], place_of(found), details=source)


FORMAT: Final = Format(
    name="nix",
    read=read,
    markers=(".drv'", "\n       at "),
    commands=(
        Command("nix", subcommands="*"),
        Command("nix-build, nix-shell, nix-env, nix-instantiate, nixos-rebuild, darwin-rebuild"),
    ),
    closings=(
        r"(?:error: )?(?:builder for|Cannot build|build of) '/nix/store/[^\n]{1,300}(?: failed|'\.)",
        r"error: (?:attribute|flake|hash mismatch|unable to|cannot )[^\n]{0,2000}(?:\n(?: .{0,2000})?){0,12}\Z",
        r" {7}at \S{1,400}:[0-9]{1,9}:[0-9]{1,9}:$",
    ),
)
