"""One actionable line where the cause does not say what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otel_errcompact.errors import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """
    What to do about one kind of failure.
    """

    advice: str
    """One line."""

    signs: tuple[str, ...]
    """Patterns for the start of a word in `Type: cause`, any of which tells the kind."""

    example: tuple[str, str]
    """A type and a cause it is meant for."""


def hint_for(facts: Facts) -> str:
    """
    Return what to do about a failure in one line, or nothing where the cause says it.
    """
    text = f"{facts.type}: {facts.cause[:_MAX_CAUSE]}"
    found = [_HINT_OF_SIGN[(sign.lastindex or 0) - 1] for sign in _SIGNS.finditer(text)]
    return HINTS[min(found)].advice if found else ""


def _exit(status: str) -> tuple[str, ...]:
    """
    Return the ways of telling an exit status, also as part of `exited with code` and `non-zero exit status`.
    """
    return (rf"[Ee]xit[^0-9-]{{0,24}}{status}(?![0-9])", rf"code[^0-9-]{{0,3}}{status}(?![0-9])")


def _http(status: str) -> tuple[str, ...]:
    """
    Return the ways of telling an HTTP status; a bare number is none.
    """
    return (
        rf"HTTP[^0-9]{{0,16}}{status}(?![0-9])",
        rf"[Ss]tatus[^0-9]{{0,8}}{status}(?![0-9])",
        rf"[Cc]ode[^0-9]{{0,3}}{status}(?![0-9])",
        rf"{status} (?=[A-Z][a-z])",
    )


_MAX_CAUSE: Final = 1_000

HINTS: Final[tuple[Hint, ...]] = (
    Hint(
        advice="shorten the context: sending the same again cannot succeed",
        signs=("context_length_exceeded", "maximum context length", "[Pp]rompt is too long", "[Ii]nput is too long"),
        example=("openai.BadRequestError", "This model's maximum context length is 131072 tokens."),
    ),
    Hint(
        advice="the account has no quota left: retrying does not help until someone adds credit",
        signs=("insufficient_quota", "credit balance is too low"),
        example=("openai.RateLimitError", "Error code: 429 - insufficient_quota: You exceeded your current quota"),
    ),
    Hint(
        advice="rate limited: wait as long as the answer says, then send fewer or smaller requests",
        signs=(*_http("429"), "[Rr]ate_?[Ll]imit", "Too Many Requests"),
        example=("HTTPError", "429 Client Error: Too Many Requests for url: https://api.example.com"),
    ),
    Hint(
        advice="the credentials are missing, wrong or expired: retrying does not help",
        signs=(*_http("401"), "Unauthorized", "AuthenticationError", "invalid_api_key"),
        example=("APIError", "HTTP 401: no valid key"),
    ),
    Hint(
        advice="the credentials are known but lack this permission: retrying does not help",
        signs=(*_http("403"), "Forbidden", "PermissionDenied"),
        example=("HTTPError", "HTTP Error 403: Forbidden"),
    ),
    Hint(
        advice="the server is overloaded or down: wait, then retry a few times at most",
        signs=(*_http("502"), *_http("503"), *_http("504"), *_http("529"), "overloaded_error"),
        example=("Error", "Request failed with status code 503"),
    ),
    Hint(
        advice="the server failed, not the request: retry once, then report it",
        signs=(*_http("500"), "Internal Server Error"),
        example=("APIError", "HTTP 500: server_error"),
    ),
    Hint(
        advice="the program is not installed or not on PATH",
        signs=(*_exit("127"), "command not found"),
        example=("CalledProcessError", "Command 'jqq' returned non-zero exit status 127."),
    ),
    Hint(
        advice="the file exists but cannot be executed: check its mode and its first line",
        signs=_exit("126"),
        example=("exit code 126", "./run.sh: Permission denied"),
    ),
    Hint(
        advice="killed from outside, most likely for want of memory",
        signs=(*_exit("137"), *_exit("-9"), "SIGKILL"),
        example=("exit code 137", "Killed"),
    ),
    Hint(
        advice="crashed in native code: look for the extension or the input that does it",
        signs=(*_exit("139"), *_exit("-11"), "SIGSEGV", "Segmentation fault"),
        example=("exit code 139", "Segmentation fault (core dumped)"),
    ),
    Hint(
        advice="`timeout` stopped the command: give it more time or a smaller task",
        signs=_exit("124"),
        example=("exit code 124", "make test"),
    ),
    Hint(
        advice="nothing listens there: start the service, or correct host and port",
        signs=("Errno 111", "ECONNREFUSED", "ConnectionRefused", "[Cc]onnection refused"),
        example=("ConnectionRefusedError", "[Errno 111] Connect call failed ('127.0.0.1', 5432)"),
    ),
    Hint(
        advice="the host name does not resolve: check its spelling, and whether there is a network",
        signs=(
            "Errno -[235]",
            "ENOTFOUND",
            "EAI_AGAIN",
            "gaierror",
            "NameResolutionError",
            "[Cc]ould not resolve host",
        ),
        example=("Error", "getaddrinfo ENOTFOUND db.example.invalid"),
    ),
    Hint(
        advice="another process holds the port: stop it, or choose another port",
        signs=("Errno 98", "EADDRINUSE", "Address already in use", "address already in use"),
        example=("OSError", "[Errno 98] Address already in use"),
    ),
    Hint(
        advice="the disk is full: free space before anything else",
        signs=("Errno 28", "ENOSPC", "[Nn]o space left"),
        example=("OSError", "[Errno 28] No space left on device: '/data/x'"),
    ),
    Hint(
        advice="files or sockets are opened and never closed",
        signs=("Errno 24", "EMFILE", "[Tt]oo many open files"),
        example=("OSError", "[Errno 24] Too many open files"),
    ),
    Hint(
        advice="the certificate is not trusted or has expired: correct the host, the clock or the trust store",
        signs=("CERTIFICATE_VERIFY_FAILED", "certificate verify failed"),
        example=("SSLError", "certificate verify failed: self-signed certificate"),
    ),
    Hint(
        advice="install what brings the module into this environment, or correct its name or the import path",
        signs=("ModuleNotFoundError", "Cannot find module", "Cannot find package"),
        example=("ModuleNotFoundError", "No module named 'pandas'"),
    ),
    Hint(
        advice="the data is not in that encoding: name the right one, or read bytes",
        signs=("UnicodeDecodeError", "UnicodeEncodeError"),
        example=("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ),
    Hint(
        advice="a function calls itself without end: look at the condition that should stop it",
        signs=("RecursionError", "Maximum call stack size"),
        example=("RecursionError", "maximum recursion depth exceeded"),
    ),
    Hint(
        advice="the text is empty or no JSON at all: look at what was received",
        signs=(r"JSONDecodeError: Expecting value[^\n]{0,40}char 0\)",),
        example=("json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
    ),
    Hint(
        advice="another connection is writing: close it, shorten its transaction, or set a busy time-out",
        signs=("database is locked",),
        example=("sqlite3.OperationalError", "database is locked"),
    ),
    Hint(
        advice="another git process is running or was killed: if none runs, remove the lock file",
        signs=(r"index\.lock",),
        example=("git", "Unable to create '/app/.git/index.lock': File exists."),
    ),
    Hint(
        advice="use a smaller batch or model, or free the memory that other processes hold",
        signs=("CUDA out of memory", "CUDA error: out of memory"),
        example=("OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB"),
    ),
)
"""Where several apply the first is given, so the narrower ones stand first."""


def _by_first_character() -> dict[str, list[tuple[int, str]]]:
    """
    Return the signs as number of the hint and rest of the pattern, by the character they begin with.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for number, hint in enumerate(HINTS):
        for sign in hint.signs:
            firsts, _, rest = sign[1:].partition("]") if sign[0] == "[" else (sign[0], "", sign[1:])
            for first in firsts:
                found.setdefault(first, []).append((number, rest))
    return found


# At most words no sign begins, and to find that out for each character once is several times as fast as for each sign.
_BY_FIRST: Final = _by_first_character()
_HINT_OF_SIGN: Final = tuple(number for signs in _BY_FIRST.values() for number, _ in signs)
_SIGNS: Final = re.compile(
    "(?<![A-Za-z0-9])(?:"
    + "|".join(f"{first}(?:{'|'.join(f'{rest}()' for _, rest in signs)})" for first, signs in _BY_FIRST.items())
    + ")"
)
