"""Start commands, and end as they have ended."""

from __future__ import annotations

import errno
import os

from otel_errcompact_hosts.wrapping.signals import signal
from otel_errcompact_hosts.wrapping.streams import ERROR, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final, NoReturn

    from otel_errcompact_hosts.wrapping.streams import Stream

LOST: Final = 1
NOT_FOUND: Final = 127
NOT_EXECUTABLE: Final = 126
_SIGNALS_AS_STATUS: Final = 128
_NO_NAME: Final = "no program has this name"
_SHELL: Final = "/bin/sh"
_FIRST_BYTES: Final = 128
"""The bytes in which a zero byte shows that a file is no script, as shells see it."""

_IGNORED_BY_PYTHON: Final = ("SIGPIPE", "SIGXFSZ")
_DUMPING: Final = (
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGSEGV",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGSYS",
)


def read_environ() -> dict[str, str]:
    """Return the environment that we were started with."""
    environ = dict(os.environ)
    # In the locale C the interpreter sets this for itself and all it starts.
    if environ.get("LC_CTYPE") in {"C.UTF-8", "C.utf8", "UTF-8"}:
        try:
            with open("/proc/self/environ", "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs more
                first = file.read()
        except OSError:
            return environ
        if not first.startswith(b"LC_CTYPE=") and b"\0LC_CTYPE=" not in first:
            del environ["LC_CTYPE"]
    return environ


def start_command(command: Sequence[str], streams: Sequence[Stream], environ: Mapping[str, str]) -> int:
    """Start a command whose streams lead to our pipes; return its id."""
    actions = [(os.POSIX_SPAWN_DUP2, stream.writer, number) for stream in streams for number in stream.stands_for]
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def spawn(words: Sequence[str]) -> int:
        if not words[0]:
            raise FileNotFoundError(errno.ENOENT, _NO_NAME)
        return os.posix_spawnp(
            words[0],
            list(words),
            environ,
            file_actions=actions,
            setsigdef=_list_restored(),
            setsigmask=[int(each) for each in mask],
        )

    try:
        return spawn(command)
    except OSError as error:
        return spawn(_as_script(command, error))


def become_command(command: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Run a command in the place of this process."""
    for number in _list_restored():
        signal.signal(number, signal.SIG_DFL)
    try:
        try:
            _execute_program(command, environ)
        except OSError as error:
            os.execve(_SHELL, _as_script(command, error), environ)  # noqa: S606 - the command itself
    except OSError as error:
        leave_as(say_unstartable(command, error))


def say_lost(error: OSError) -> int:
    """Say that what was printed is lost; return the exit status."""
    write_whole(ERROR, f"errcompact exec: write error: {os.strerror(error.errno or 0)}\n".encode())
    return LOST


def say_unstartable(command: Sequence[str], error: OSError) -> int:
    """Say why a command cannot be started; return the status of shells."""
    is_missing = error.errno in {errno.ENOENT, errno.ENOTDIR}
    reason = "command not found" if is_missing and "/" not in command[0] else os.strerror(error.errno or 0)
    message = f"errcompact exec: {command[0]}: {reason}\n"
    write_whole(ERROR, os.fsencode(message))
    return NOT_FOUND if is_missing else NOT_EXECUTABLE


def leave_as(status: int) -> NoReturn:
    """End as the command has ended; a negative status is a signal."""
    if status < 0:
        _die_by(-status)
    os._exit(status if status >= 0 else _SIGNALS_AS_STATUS - status)


def send_signal(process: int, number: int) -> None:
    """Send a signal, if the process is still there."""
    try:
        os.kill(process, number)
    except OSError:
        return


def shell_status(status: int) -> int:
    """Return a status as shells report it: 128 and the signal's number."""
    return status if status >= 0 else _SIGNALS_AS_STATUS - status


def _execute_program(command: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    # `os.execvpe` goes on to a program of the same name where the first is a script that names no interpreter.
    problem: OSError = FileNotFoundError(errno.ENOENT, _NO_NAME)
    for path in _list_places(command[0]):
        try:
            os.execve(path, list(command), environ)  # noqa: S606 - the command itself
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            problem = error
    raise problem


def _list_places(name: str) -> list[str]:
    if not name:
        return []
    return [name] if "/" in name else [f"{folder or '.'}/{name}" for folder in os.get_exec_path()]


def _as_script(command: Sequence[str], error: OSError) -> list[str]:
    # Shells, and programs such as `env`, have the shell read a text that names no interpreter.
    if error.errno != errno.ENOEXEC:
        raise error
    for path in _list_places(command[0]):
        if os.access(path, os.X_OK):
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs more
                if b"\0" not in file.read(_FIRST_BYTES):
                    return [_SHELL, path, *command[1:]]
            break
    raise error


def _die_by(number: int) -> None:
    try:
        if number in _list_numbers(_DUMPING):
            # The command has left its core; ours shows nothing.
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    except (OSError, ValueError):
        return


def _list_restored() -> list[int]:
    return _list_numbers(_IGNORED_BY_PYTHON)


def _list_numbers(names: Sequence[str]) -> list[int]:
    return [int(getattr(signal, name)) for name in names if hasattr(signal, name)]
