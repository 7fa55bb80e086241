"""Rows over recorded runs, each played in its order by a ledger of its own."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from benchmarks.context.data import from_claude_code
from benchmarks.context.facts import stands_in, strings_in, values_of
from benchmarks.field.reading import Seen, play
from benchmarks.field.row import Row, Scores, add_saved
from benchmarks.field.texts import base_name, has_any_place, is_in_order, is_whole, places_in, shared_lines
from benchmarks.quality.score import Score, has_place
from otel_errcompact.digest.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.field.reading import Recording
    from otel_errcompact_lab.transcripts import RecordedCall

EDIT_WITHIN: Final = 6
USE_WITHIN: Final = 4
WHOLE: Final = 400

_EDITING: Final = re.compile(r"edit|write|replace|patch|create|insert", re.IGNORECASE)
_LOOKING: Final = re.compile(r"view|undo_edit")
_FILE_FIELDS: Final = ("file_path", "filePath", "notebook_path", "path", "filename", "file")
_PATCHED: Final = re.compile(r"\*\*\* (?:Update|Add) File: (?P<file>[^\n\"\\]+)")
_NAME: Final = re.compile(r"(?=.*[^\W\d_])\S{6,}")
_LINE: Final = re.compile(r"(?::\d+)+\Z")
_HIDES_STATUS: Final = re.compile(r"[|;&]")


@dataclass(slots=True)
class Rows:
    """What was counted over all runs so far."""

    left: Scores = field(default_factory=Scores)
    verdicts: Scores = field(default_factory=Scores)
    masks: Scores = field(default_factory=Scores)
    uses: Scores = field(default_factory=Scores)
    order: Scores = field(default_factory=Scores)
    places: Scores = field(default_factory=Scores)
    whole: Scores = field(default_factory=Scores)
    saved: Scores = field(default_factory=Scores)
    stated: list[tuple[str, Seen]] = field(default_factory=list)
    """Failures that no flag declares, with their place."""

    def take(self, recording: Recording) -> None:
        """Play a run, and count what its agent would have read."""
        played = play(recording.run.calls)
        earlier, read = _prompts(recording), set[str]()
        for index, seen in enumerate(played):
            call = seen.call
            asked = " ".join(call.arguments.split())[:200]
            where = f"{recording.source}/{recording.path.name}:{call.line} {call.tool} {asked}"
            self._judge(recording.source, where, seen)
            earlier.append(call.arguments)
            if seen.failed:
                after = [each.call for each in played[index + 1 : index + 1 + EDIT_WITHIN]]
                self._mask(where, seen, after)
                self._use(where, seen, after[:USE_WITHIN], earlier)
                self._order(where, seen)
                add_saved(self.saved[f"tokens, {seen.certainty}"], call.result, seen.text)
                if call.result not in read:
                    self._show(where, seen)
                read.add(call.result)
            earlier.append(call.result)

    def _judge(self, source: str, where: str, seen: Seen) -> None:
        call = seen.call
        for of, certainty in itertools.product((source, "all sources"), ("declared", "stated")):
            score = self.verdicts[f"{of}, {certainty} failures of results"]
            score.all += 1
            score.right += seen.certainty == certainty
        if seen.certainty == "stated":
            self.stated.append((where, seen))
        if call.exit_code == 0 if call.exit_code is not None else call.flagged is False:
            self.left["text byte for byte"].add(seen.text == call.result, where)
            if not _HIDES_STATUS.search(_command(call)):
                self.left["- where nothing in the call may hide a status"].add(seen.text == call.result, where)
            self.left["not judged a declared failure"].add(seen.certainty != "declared", where)
            self.left["not judged a stated failure"].add(seen.certainty != "stated", where)
            self.left["not put aside as neither"].add(seen.failed or seen.outcome == "success", where)

    def _mask(self, where: str, seen: Seen, after: Sequence[RecordedCall]) -> None:
        name = next((name for call in after if (name := edited_file(call))), "")
        if not name:
            return
        in_raw = name in seen.call.result
        self.masks[f"raw text names the edited file, {seen.certainty}"].add(in_raw, where)
        if in_raw:
            self.masks[f"digest does where the raw text does, {seen.certainty}"].add(
                name in seen.text, f"{name}: {where}"
            )

    def _use(self, where: str, seen: Seen, after: Sequence[RecordedCall], earlier: Sequence[str]) -> None:
        used = set(_used_strings(seen.call.result, after, earlier))
        lost = [each for each in used if not _is_shown(each, seen.text)]
        for each in sorted(used):
            self.uses[f"strings in the digest, {seen.certainty}"].add(each not in lost, f"{each}: {where}")
        if used:
            self.uses[f"failures with all of theirs, {seen.certainty}"].add(not lost, where)

    def _order(self, where: str, seen: Seen) -> None:
        lines = shared_lines(seen.call.result, seen.text)
        if len(lines) > 1:
            cut = "cut" if not is_whole(seen.call.result, seen.text) else "whole"
            self.order[f"digests in order, of {cut} texts"].add(is_in_order(lines, seen.call.result), where)

    def _show(self, where: str, seen: Seen) -> None:
        raw, text = seen.call.result, seen.text
        places = places_in(raw)
        if places:
            self.places[f"recordings, {seen.certainty}"].add(has_any_place(places, text), where)
        if not raw.strip() or estimate_tokens(raw) > WHOLE:
            return
        whole = is_whole(raw, text)
        self.whole[f"whole, {seen.certainty}"].add(whole, where)
        if whole:
            lines, tokens = self.whole["lines added, of their lines"], self.whole["tokens added, of their tokens"]
            lines.all += len(raw.strip().splitlines())
            lines.right += len(text.strip().splitlines()) - len(raw.strip().splitlines())
            tokens.all += estimate_tokens(raw)
            tokens.right += estimate_tokens(text) - estimate_tokens(raw)

    def rows(self, places_of_corpus: Score) -> list[Row]:
        """Return rows 2 to 7 and 10."""
        self.places["corpus"] = places_of_corpus
        return [
            Row(name=name, leaves_out=leaves_out, scores=[*getattr(self, of).values()])
            for of, name, leaves_out in _ROWS
        ]


_ROWS: Final = (
    (
        "left", "2 declared successes left alone",
        "results that no flag or status judges; what a host says beside the text",
    ),
    ("verdicts", "3 verdicts", "whether they are right: read `--samples`; results that are neither"),
    (
        "masks", f"4 file of the first edit in the next {EDIT_WITHIN} calls",
        "edits by shell commands, edits that name no file; a repeat has to name the file again",
    ),
    (
        "uses", f"5 strings that the next {USE_WITHIN} calls use, met in the raw text alone",
        "plain words, numbers alone; met in prompts of others than Claude Code, system prompts, the agent's words",
    ),
    ("order", "6 order of lines", "lines not verbatim or under 12 characters, digests with fewer than two others"),
    (
        "places", "7 a place, where the raw text names one",
        "texts that the run has had before, files without a known suffix; whether it is the right place",
    ),
    (
        "whole", f"10 failures up to {WHOLE} tokens",
        "texts that the run has had before; escape sequences, redaction and line ends may change",
    ),
    ("saved", "11 saved on recorded failures", "what calls save that are not made, or cost that are made again"),
)  # fmt: skip
"""What holds the scores of a row, its name, and what it leaves out."""


def _prompts(recording: Recording) -> list[str]:
    if recording.run.agent != "claude-code":
        return []
    lines = recording.path.read_text(encoding="utf-8", errors="replace").split("\n")
    said = from_claude_code([row for line in lines if (row := _object(line)).get("type") == "user"], ())
    return [str(message["content"]) for message in said]


def _fields(call: RecordedCall) -> dict[str, Any]:
    return _object(call.arguments)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _command(call: RecordedCall) -> str:
    return str(_fields(call).get("command") or "")


def edited_file(call: RecordedCall) -> str:
    """Return the base name of the file that a call edits; empty if it edits none."""
    if patched := _PATCHED.search(call.arguments):
        return base_name(patched["file"].strip())
    fields = _fields(call)
    if not _EDITING.search(call.tool) or _LOOKING.fullmatch(str(fields.get("command"))):
        return ""
    return next((base_name(str(fields[name])) for name in _FILE_FIELDS if fields.get(name)), "")


def _used_strings(raw: str, after: Iterable[RecordedCall], earlier: Iterable[str]) -> Iterator[str]:
    met = list(earlier)
    for call in after:
        values = list(values_of({"tool_calls": [{"function": {"arguments": call.arguments}}]}))
        strings = {each for value in values for each in strings_in(value)}
        for name in {name for each in strings for name in strings_in(base_name(_LINE.sub("", each)))}:
            is_known = not _NAME.fullmatch(name) or any(stands_in(name, text) for text in met)
            if not is_known and stands_in(name, raw):
                yield name
        for file, line in places_in(raw):
            here = any(file in value for value in values) and any(stands_in(line, value) for value in values)
            if here and not any(has_place(file, line, text) for text in met):
                yield f"{file}:{line}"
        met += [call.arguments, call.result]


def _is_shown(used: str, text: str) -> bool:
    file, _, line = used.rpartition(":")
    return has_place(file, line, text) if file and line.isdecimal() else stands_in(used, text)
