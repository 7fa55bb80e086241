"""
Start the local service, detached, and wait for nothing.

`python -I -S detached.py SOCKET` does it for other programs.
"""

import sys

STARTING = b".starting"
"""Suffix of the file that says that a service was started."""

STARTING_S = 10
"""Seconds in which no other is started: one that cannot start must not be started at each event."""

MAX_LOG = 1_048_576
"""Bytes of a log at which it begins again."""

_MAIN = "import sys; sys.path.append(sys.argv.pop()); from otel_errcompact_hosts.service.__main__ import main; main()"


def start(path: bytes, variables: dict[bytes, bytes] = {}) -> None:  # noqa: B006 - nothing changes it
    """
    Start the service unless that was done a moment ago.

    It has a session of its own, its own log for output, and no other file of this process.
    """
    import posix

    folder = path.rpartition(b"/")[0]
    _make_folder(folder)
    if not _claim_start(path + STARTING) or posix.fork():
        return
    try:
        posix.setsid()
        if not posix.fork():
            _become_service(folder, path, variables)
    finally:
        posix._exit(127)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - `os` has it from there


def _make_folder(folder: bytes) -> None:
    import posix

    try:
        posix.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        _make_folder(folder.rpartition(b"/")[0])
        posix.mkdir(folder, 0o700)


def _claim_start(marker: bytes) -> bool:
    import posix
    import time

    try:
        if 0 <= time.time() - posix.stat(marker).st_mtime < STARTING_S:
            return False
        posix.unlink(marker)
    except FileNotFoundError:
        pass
    try:
        posix.close(posix.open(marker, posix.O_CREAT | posix.O_EXCL | posix.O_WRONLY, 0o600))
    except FileExistsError:  # of several that start it at once, one does
        return False
    return True


def _become_service(folder: bytes, path: bytes, variables: dict[bytes, bytes]) -> None:
    import posix

    posix.closerange(3, 1 << 20)
    posix.chdir(folder)
    null = posix.open("/dev/null", posix.O_RDONLY)
    log = posix.open(path + b".log", posix.O_CREAT | posix.O_APPEND | posix.O_WRONLY, 0o600)
    if posix.fstat(log).st_size > MAX_LOG:
        posix.ftruncate(log, 0)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        posix.dup2(source, target)
    posix.closerange(3, 1 << 20)
    # Without the working directory on the path: what lies in an agent's repository is not run.
    root = __file__.rsplit("/", 3)[0]
    posix.execve(sys.executable, [sys.executable, "-P", "-c", _MAIN, root], {**posix.environ, **variables})


if __name__ == "__main__":
    NAMED = sys.argv[1].encode(sys.getfilesystemencoding(), "surrogateescape")
    start(NAMED, {b"OTEL_ERRCOMPACT_SERVICE": NAMED})
