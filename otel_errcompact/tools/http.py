"""Answers of servers: JSON and HTML error bodies, with or without the head of the response or a status line."""

from __future__ import annotations

from typing import Final

from otel_errcompact.extract.grammar import Command, Format, Hint
from otel_errcompact.extract.messages.http_answers import read

# --- clients ---------------------------------------------------------------------------------------------------------


def _list_status_patterns(code: str) -> tuple[str, ...]:
    # Return the patterns of an HTTP status; a bare number is none.
    return (
        rf"HTTP[^0-9]{{0,16}}{code}(?![0-9])",
        rf"[Ss]tatus[^0-9]{{0,8}}{code}(?![0-9])",
        rf"[Cc]ode[^0-9]{{0,3}}{code}(?![0-9])",
        rf"{code} (?=[A-Z][a-z])",
    )


FORMAT: Final = Format(
    name="http",
    reads_all=True,
    is_of_service=True,
    read=read,
    markers=(),
    commands=(
        Command("curl", texts="-X -d -A -b -u -o -w -m -e -F", waits=(7, 28, 52, 56), speaks="curl"),
        Command("wget", texts="-O -U -T -t", speaks="wget"),
        Command("svn", subcommands="*"),
        Command("gh", subcommands="*", scopes="-R", texts="-b -t -m -f -F -X -q -L"),
        Command("gh pr, gh issue, gh run", subcommands="*", reads=True),
        Command("gh search", reads=True),
        Command("gh pr checks", answers=(1, 8)),
        Command("gh repo, gh release, gh workflow", subcommands="*"),
        Command("glab", subcommands="*"),
        Command("glab mr, glab issue", subcommands="*", reads=True),
        Command("glab ci", reads=True),
        Command("http, https, ab"),
    ),
    closings=(
        r"a pull request for branch \S{1,200} ",
        r"rsync error: ",
        r"apr_socket_\w{1,30}\(\): ",
        r"HTTP [45][0-9]{2}: \S",
        r"gh: [^\n]{1,300}\(HTTP [45][0-9]{2}\)",
        r"GraphQL: \S",
        r"[0-9-]{10} [0-9:]{8} ERROR [45][0-9]{2}: ",
        r"(?:upload|download|copy|delete|move) failed: |fatal error: An error occurred ",
        r"http: error: ",
        r"(?:requests|httpx|urllib3|aiohttp)\.[\w.]{0,60}(?:Error|Exception|Timeout): ?",
        (
            r"ssh: (?:connect to host|Could not resolve)|(?:Connection"
            r"|kex_exchange_identification: Connection) (?:closed|reset) by "
            r"|\S{1,100}: Permission denied \(publickey|Host key verification failed|ssh_exchange_identification"
        ),
        r"curl: \([0-9]{1,3}\) \S",
        r"An error occurred \(\w{1,100}\) when calling the \w{1,100} operation",
    ),
    hints=(
        Hint(
            "rate limited: wait as long as the answer says, then send fewer or smaller requests",
            (*_list_status_patterns("429"), "[Rr]ate_?[Ll]imit", "Too Many Requests"),
            ("HTTPError", "429 Client Error: Too Many Requests for url: https://api.example.com"),
        ),
        Hint(
            "the server asks for valid credentials: retrying does not help",
            (*_list_status_patterns("401"), "Unauthorized", "AuthenticationError", "invalid_api_key"),
            ("APIError", "HTTP 401: no valid key"),
        ),
        Hint(
            "the server refuses this request: sending it again does not help",
            (*_list_status_patterns("403"), "Forbidden", "PermissionDenied"),
            ("HTTPError", "HTTP Error 403: Forbidden"),
        ),
        Hint(
            "there is nothing at this address: check its path and the ids in it",
            _list_status_patterns("404"),
            ("HTTPError", "404 Client Error: Not Found for url: https://api.example.com/orders/7"),
        ),
        Hint(
            "the server, or one behind it, is not available: wait, then retry a few times at most",
            (
                *_list_status_patterns("502"),
                *_list_status_patterns("503"),
                *_list_status_patterns("504"),
                *_list_status_patterns("529"),
                "overloaded_error",
            ),
            ("Error", "Request failed with status code 503"),
        ),
        Hint(
            "the server failed at this request: retry once, then report it",
            (*_list_status_patterns("500"), "Internal Server Error"),
            ("APIError", "HTTP 500: server_error"),
        ),
    ),
)
