"""`errcompact raw`: the name of a class in, raw errors out."""

from __future__ import annotations

import os
import stat
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from otel_errcompact.audit.files import list_trajectories
from otel_errcompact.exceptions import ConfigurationError, ErrcompactError
from otel_errcompact.otel import semconv
from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_hosts.wrapping.processes import read_environ
from otel_errcompact_hosts.wrapping.raw_files import SUFFIX, list_folders
from otel_errcompact_lab.cli.output import FINE, Problems, say
from otel_errcompact_lab.replay.lives import raw_of
from otel_errcompact_lab.transcripts.model import RecordedLife
from otel_errcompact_lab.transcripts.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = lazy_pattern(r"#?([0-9a-f]{4,16})")


class NothingKeptError(ErrcompactError, LookupError):
    """No raw error of a class is kept on this machine."""


def print_raw(name: str, *, count: int = 1) -> int:
    """
    Print raw errors of a class, the newest first.

    Returns:
        The exit status.
    """
    problems = Problems()
    texts, others = find_raws(name, problems)
    for text in texts[:count]:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    if len(texts) > count:
        say(f"raw: of this class {len(texts):,} are kept; --count {len(texts)} prints all")
    if others:
        say(f"raw: {others}")
    return problems.exit_code


def serve_raw() -> int:
    """Serve the tool `errcompact_raw` by MCP until its client ends."""
    # By its name, since its types are checked where its package is.
    import_module("otel_errcompact.integrations.links.mcp_raw").serve(partial(find_raws, problems=Problems()))
    return FINE


def find_raws(name: str, problems: Problems) -> tuple[list[str], str]:
    """
    Find what is kept of a class, the newest first.

    Of several classes that are called so, all are named.

    Raises:
        ConfigurationError: No class can be called so.
        NothingKeptError: None is found.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise ConfigurationError(f"raw: '{name}' is no name of a class; digests have one, as in #8809")
    trajectories = [path for path in list_trajectories() if path.is_file() and _is_own(path)]
    raws = sorted((*_find_kept(found[1]), *_find_recorded(trajectories, found[1], problems)), reverse=True)
    if not raws:
        looked = ", ".join(map(str, (*list_folders(read_environ()), *trajectories)))
        raise NothingKeptError(f"raw: no raw error of a class #{found[1]} is kept on this machine; looked in {looked}")
    # What `exec` has kept, by its short name, is often recorded too.
    texts = list(dict.fromkeys(text for _, _, text in raws))
    names = list(dict.fromkeys(f"#{key}" for _, key, _ in raws if key))
    return texts, f"#{found[1]} is several classes here: {', '.join(names)}" if len(names) > 1 else ""


def _find_kept(short: str) -> Iterator[tuple[float, str, str]]:
    for path in (path for folder in list_folders(read_environ()) for path in Path(folder).glob(f"*.{short}*{SUFFIX}")):
        try:
            if path.is_file() and _is_own(path) and _is_own(path.parent):
                yield path.stat().st_mtime, "", path.read_bytes().decode("utf-8", "backslashreplace")
        except OSError as error:
            say(f"{path}: {error.strerror}")


def _is_own(path: Path) -> bool:
    # In a shared folder another user may have laid a file, or a link, for us to read.
    found = path.lstat()
    return found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & stat.S_IWOTH


def _find_recorded(trajectories: list[Path], short: str, problems: Problems) -> Iterator[tuple[float, str, str]]:
    for path in trajectories:
        for life in read(path, on_problem=problems.take):
            for line in life.lines if isinstance(life, RecordedLife) else ():
                if line.raw is not None and line.text(semconv.CLASS).startswith(short):
                    raw = raw_of(line.raw, line)
                    text = raw.text or raw.message
                    text = text.encode("utf-8", "backslashreplace").decode()
                    yield line.time_ns / 1e9, line.text(semconv.CLASS), text
