"""Targets of a program that a command line runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from otel_errcompact.detector.operation import programs
from otel_errcompact.detector.operation.sql import tables_in
from otel_errcompact.detector.operation.targets import MAX_TARGET, MAX_TARGETS, clean_target, join_folders

if TYPE_CHECKING:
    from otel_errcompact.detector.operation.command_line import Invocation
    from otel_errcompact.extract.command import Checker


def targets_of(run: Invocation, folder: str) -> tuple[list[str], str, bool]:  # noqa: C901 - one loop over the words
    """Return the targets, the folder, and whether all of it is covered."""
    checker = programs.row_of(run.program).checks
    if checker is not None:
        return _targets_of_checker(checker, run, folder)
    found: list[str] = []
    folders = [folder, *run.folders]
    row = programs.row_of(run.program.partition(" ")[0])
    scoping, texts = programs.words_of(row.scopes), programs.words_of(row.texts)
    skip_script = row.takes_script and "-e" not in run.words
    words = iter(run.words)
    after_option = False
    for word in words:
        if word.startswith("-") and len(word) > 1:
            option, has_value, value = word.partition("=")
            after_option = not has_value
            if option in texts or option in programs.TEXT_OPTIONS:
                if not has_value:
                    next(words, "")
            elif option in programs.FOLDER_OPTIONS and not row.takes_script:
                folders.append(value if has_value else next(words, ""))
            elif option in scoping or option in programs.SCOPING_OPTIONS or (word.startswith("-D") and has_value):
                value = value if has_value else next(words, "")
                found.append(f"{option} {value}"[:MAX_TARGET])
            continue
        if after_option and word.isdigit():
            continue
        after_option = False
        if skip_script:
            skip_script = False
        elif text := _targets_in_word(word):
            found.extend(text)
    return found, join_folders(folders), False


def _targets_in_word(word: str) -> list[str]:
    if " " in word and (tables := tables_in(word)):
        return tables
    if len(word) > MAX_TARGET or "\n" in word:
        return []
    text = clean_target(word.strip())
    return [text] if text and text != "." else []


def _targets_of_checker(checker: Checker, run: Invocation, folder: str) -> tuple[list[str], str, bool]:
    found: list[str] = []
    words = iter(run.words)
    with_value = programs.words_of(checker.with_value)
    harmless = programs.words_of(checker.harmless) | with_value | {"--"}
    wide, given = True, False
    for word in words:
        if word.startswith("-") and len(word) > 1:
            option, has_value, value = word.partition("=")
            if word in harmless or option in harmless:
                if not has_value and option in with_value:
                    next(words, "")
                continue
            # An unknown option is a target, since it may leave things out.
            wide = False
            if option in programs.words_of(checker.narrowing):
                value = value if has_value else next(words, "")
                found.append(f"{option} {value}"[:MAX_TARGET])
            else:
                found.append(word[:MAX_TARGET])
        elif word in programs.words_of(checker.everything):
            given = True
        else:
            given = True
            found.append(clean_target(word))
    if not given and checker.bare:
        found.append(checker.bare)
        wide = False
    if checker.needs_target and not given:
        wide = False
    return found, join_folders([folder, *run.folders]), wide and len(found) < MAX_TARGETS
