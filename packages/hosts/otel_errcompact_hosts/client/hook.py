"""
Pass a hook's event to the local service, and print its answer.

A host starts `python -I -S hook.py HOST [EVENT]` for every event, so that it imports nothing but what is built
into Python: `json`, `socket` and `os` would each cost more than the rest. Whatever goes wrong, it prints nothing and
its exit status is 0.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from typing import Any

LIMIT_S = 0.3
"""Seconds that the host waits at most: for its own input, and then for the answer."""


READING_S = 1.5
"""Seconds that the answer may take longer for each megabyte of an event: a large output has to be read."""

# As `bypass` has them.
_SWITCHES = (b"ERRCOMPACT", b"OTEL_ERRCOMPACT_ENABLED")
_OFF = frozenset({b"0", b"false", b"no", b"off"})


def find_socket(environ: dict[bytes, bytes], platform: str = sys.platform) -> bytes:
    """Return the path of the service's socket, as `config.service_socket` does."""
    import posix

    if named := environ.get(b"OTEL_ERRCOMPACT_SERVICE"):
        return named if named[:1] == b"/" else posix.getcwdb() + b"/" + named
    runtime = environ.get(b"XDG_RUNTIME_DIR", b"")
    if runtime[:1] == b"/":
        try:
            if posix.stat(runtime).st_uid == posix.getuid():
                return runtime + b"/errcompact/errcompact.sock"
        except OSError:
            pass
    state = environ.get(b"XDG_STATE_HOME", b"")
    if platform == "darwin" or state[:1] != b"/":
        home = environ.get(b"HOME") or _find_home()
        state = home + (b"/Library/Application Support" if platform == "darwin" else b"/.local/state")
    return state + b"/otel-errcompact/service/errcompact.sock"


def _find_home() -> bytes:
    import posix
    import pwd

    return pwd.getpwuid(posix.getuid()).pw_dir.encode(sys.getfilesystemencoding(), "surrogateescape")


def _read_event(limit: "Callable[[], None]") -> bytes:
    import posix

    chunks: list[bytes] = []
    while True:
        limit()
        chunk = posix.read(0, 1 << 20)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def write_request(method: str, target: str, body: bytes, header: str = "") -> bytes:
    """Return a request of HTTP; a header ends with its line."""
    head = (
        f"{method} {target} HTTP/1.1\r\nHost: errcompact\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{header}Connection: close\r\n\r\n"
    )
    return head.encode() + body


def _ask_service(connection: "socket", target: str, body: bytes) -> bytes:
    connection.sendall(write_request("POST", target, body))
    chunks: list[bytes] = []
    while chunk := connection.recv(1 << 20):
        chunks.append(chunk)
    said, _, answer = b"".join(chunks).partition(b"\r\n\r\n")
    return answer if said[:12] == b"HTTP/1.1 200" else b""


def _start_service(path: bytes) -> None:
    # Isolated, Python does not look for modules beside a program.
    sys.path.insert(0, __file__.rpartition("/")[0])
    __import__("detached").start(path)


def main() -> None:
    """Pass the event on, print the answer, and end without a word."""
    import posix

    # Without the end of an interpreter, which takes another millisecond and may say why it failed.
    leave = posix._exit  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - `os` has it from there
    # What `signal` is made of, which would load `enum`.
    signals: Any = __import__("_signal")

    def limit(size: int = 0) -> None:
        signals.setitimer(signals.ITIMER_REAL, LIMIT_S + READING_S * size / (1 << 20))

    def give_up(_: int, __: object) -> None:
        leave(0)

    try:
        if any(posix.environ.get(name, b"").strip().lower() in _OFF for name in _SWITCHES):
            return
        import _socket

        signals.signal(signals.SIGALRM, give_up)
        body = _read_event(limit)
        limit(len(body))
        path = find_socket(posix.environ)
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            _start_service(path)
        else:
            event = f"?event={sys.argv[2]}" if sys.argv[2:] else ""
            answer = _ask_service(connection, f"/v1/hooks/{sys.argv[1]}{event}", body)
            while answer:
                answer = answer[posix.write(1, answer) :]
    finally:
        leave(0)


if __name__ == "__main__":
    main()
