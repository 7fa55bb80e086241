"""
A message becomes its template: values are masked; names, codes, statuses, limits and versions are kept.

All rules are one regular expression and run in one pass, each where no word character precedes. The first rule that
matches at a place decides over its whole match, so rules that keep stand before rules that mask. Every rule carries
examples of what it masks and of what it leaves alone; the tests run them, and the documentation prints them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskRule:
    """
    One kind of text and what stands for it in a template.
    """

    name: str
    """The rule's name, and the name of its group in the compiled pattern."""

    pattern: str
    """
    A regular expression. It begins with a character or a class, so that the engine can skip it quickly, and its
    repetitions are bounded or exclude what follows them, so that it runs in linear time.
    """

    replacement: str | Callable[[str], str]
    """A token, or a function of the matched text."""

    labels: tuple[str, ...] = ()
    """Ends of the words behind which alone the rule applies, as patterns of fixed width; the words stay."""

    near_digit: bool = False
    """Whether the rule is for words with a digit or `@` in or near them; the pattern is what follows a first letter."""

    masks: tuple[tuple[str, str], ...] = ()
    """Texts and their templates."""

    keeps: tuple[str, ...] = ()
    """Texts that are their own templates."""


def mask(text: str) -> str:
    """
    Return the template of `text`: what varies from one occurrence to the next is replaced by tokens.
    """
    return _PATTERN.sub(_replacement_of, text)


def values(text: str) -> list[str]:
    """
    Return what a template leaves out of `text` and a reader may want to know: numbers, sizes and literals.

    Ids, times, ports, temporary names and the line numbers of a place vary by themselves and tell nothing.
    """
    found: dict[str, None] = {}
    for match in _PATTERN.finditer(text):
        start = match.start()
        if text[start - 1 : start] == ":" or match.lastgroup not in _REPLACEMENTS:
            continue
        token = _replacement_of(match)
        if _VALUE.search(token):
            label = _REPLACEMENTS[match.lastgroup][1]
            found[text[match.end(label) if label else start : match.end()]] = None
    return list(found)


def _replacement_of(match: re.Match[str]) -> str:
    name = match.lastgroup
    if name not in _REPLACEMENTS:  # what is masked already
        return match[0]
    replacement, label = _REPLACEMENTS[name]
    if label is None:
        return replacement if isinstance(replacement, str) else replacement(match[0])
    end_of_label = match.end(label) - match.start()
    head, value = match[0][:end_of_label], match[0][end_of_label:]
    return head + (replacement if isinstance(replacement, str) else replacement(value))


def _keep(text: str) -> str:
    return text


def _has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


# Names: words joined by `-`, `.`, `_`, `/` and the like. Digits belong to a name unless they look made up.

_DIGIT: Final = re.compile(r"[0-9]")
_NAME_TOKENS: Final = {
    "uuid": "<id>",
    "segment": "<id>",
    "leading": "<id>",
    "suffix": "<id>",
    "pod": "<id>",
    "handle": "@<id>",
    "temporary": "<tmp>",
    "build": "<hash>",
    "index": "<index>",
}
_VOLATILE_IN_NAME: Final = re.compile(
    r"(?<![^\W_])(?:"
    r"[0-9a-fA-F][0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)(?P<uuid>)"
    # items/81723, 3344.py, mia_li_3668; not orders_2024
    r"|[0-9](?<=[a-z0-9_]/.)[0-9]*(?!\w)(?P<segment>)"
    r"|[0-9](?<!..)[0-9]*(?!\w)(?P<leading>)"
    r"|[0-9](?<=_.)[0-9]{3,}(?!\w)(?<!_19[0-9]{2})(?<!_20[0-9]{2})(?<!_20[0-9]{6})(?P<suffix>)"
    # ORA-00942, CVE-2021-44228, BC30451
    r"|[A-Z][A-Z]+[-_]?[0-9]+(?:-[0-9]+)*(?!\w)(?P<code>)"
    r"|tmp(?=[a-z_]{0,7}[0-9])[a-z0-9_]{6,8}(?!\w)(?P<temporary>)"
    # Task-42, ThreadPoolExecutor-0_3
    r"|(?:[A-Za-z]*(?:Task|Thread|Worker|Process|Executor)|worker|thread|task|job|run|shard|attempt|input)-[0-9]+"
    r"(?:_[0-9]+)?(?!\w)(?P<numbered>)"
    # req_7f3a9b1c2d, toolu_01XFDUDYJgAACzvnptvVoYEL, cus_NffrFeUfNV2Hib
    r"|(?:(?:req|call|chatcmpl|cmpl|resp|msg|toolu|thread|run|asst|evt|batch|sess|session|trace|span|org|proj|cus|acct|txn)"
    r"[-_](?:(?=[A-Za-z]*[0-9][A-Za-z]*[0-9])[A-Za-z0-9]{6,}|[A-Za-z0-9]{20,})"
    r"|(?:cus|pi|ch|pm|sub|price|prod|seti|src|tok|card|in|si|re)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{14,24})"
    r"(?!\w)(?P<prefixed>)"
    # index-4185d9aa.js
    r"|[A-Za-z0-9](?<=[-.].)(?=[A-Za-z_]{0,19}[0-9])\w{7,19}(?=(?:\.[a-z]{1,8})?\.(?:[cm]?jsx?|css|map|wasm)(?!\w))"
    r"(?P<build>)"
    # web-6d4cf56db6-x2x7z
    r"|[b-z0-9](?<=-.)(?=[a-z]{0,9}[0-9])[bcdf-hj-np-tv-z0-9]{7,9}-[bcdf-hj-np-tv-z0-9]{5}(?!\w)(?P<pod>)"
    r"|[A-Za-z](?=[A-Za-z]*[0-9])[A-Za-z0-9]{4,}(?![^\W_])(?P<mixed>)"
    # items.0.qty; not libcudart.so.12
    r"|[0-9](?<=[A-Za-z_]\..)(?<!\.so\..)[0-9]*(?:\.[0-9]+)*(?!\w)(?P<index>)"
    r"|[0-9][A-Za-z0-9]{4,}(?![^\W_])(?P<digits>)"
    r"|@(?<=\w.)[0-9a-f]{5,8}(?!\w)(?P<handle>)"
    r")"
)
_INVENTED: Final = re.compile(
    # A date is part of a name: claude-3-5-sonnet-20241022.
    r"(?!(?:19|20)[0-9]{6}\Z)(?:"
    r"[0-9]+\Z"
    r"|(?:[0-9a-f]{8,}|[0-9A-F]{8,}|(?=[0-9]+[a-f]+[0-9]|[a-f]+[0-9]+[a-f])[0-9a-f]{6,7})\Z"
    # Letters and digits in turns, other than in CamelCase2Names.
    r"|(?=[0-9]*[A-Za-z]+[0-9]+[A-Za-z]+[0-9])(?=[A-Za-z0-9]*[0-9][a-z]|[0-9]|[A-Z0-9]+\Z)[A-Za-z0-9]{8}"
    r"|[0-9][A-Za-z0-9]{15}"
    r")"
)
_ID_BEHIND_WORD: Final = re.compile(r"(?<=[-_]).*")


def _mask_name(name: str) -> str:
    return _VOLATILE_IN_NAME.sub(_mask_name_part, name)


def _mask_name_part(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    part = match[0]
    if kind in {"mixed", "digits"}:
        return "<id>" if _INVENTED.match(part) else part
    if kind in {"prefixed", "numbered"}:
        return _ID_BEHIND_WORD.sub("<id>", part, count=1)
    return _NAME_TOKENS.get(kind, part)


def _mask_blob(text: str) -> str:
    """
    Mask base64 data; a long word or relative path of one case is a name.
    """
    is_data = _has_digit(text) and not text.islower() and not text.isupper()
    return "<data>" if is_data else _mask_name(text)


# Paths, URLs, addresses.

_SLASHES: Final = re.compile(r"[\\/]+")
_SEGMENT: Final = re.compile(r"[^\\/]+")
_VOLATILE_ROOT: Final = re.compile(
    r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm|run/user)/|[A-Za-z]:/(?:[Ww]indows/)?[Tt]e?mp/"
    r"|(?:/home|/Users|/root|[A-Za-z]:/Users|~|/builds|/github/workspace)/"
)
_UUID: Final = re.compile(r"(?<!\w)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)")
_SHORT_ID: Final = re.compile(r"(?<=[-_])(?=[a-f]{0,3}[0-9])[0-9a-f]{4,}(?![\w.])")
_POSITION: Final = re.compile(r"(?::[0-9]+)+\Z")
_IP_ADDRESS: Final = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")
_FINAL_NUMBER: Final = re.compile(r"[0-9]+\Z")
_FAULT_CODE: Final = re.compile(r"0x(?:8007|8000|[Cc]000)[0-9A-Fa-f]{4}\Z")
_LONGEST_LINE: Final = len("999")
"""Digits of a number that behind a name and a colon is taken for a line, not for a port."""

_SERVICE_PORTS: Final = frozenset(
    {
        "21", "22", "23", "25", "53", "80", "110", "143", "389", "443", "465", "587", "636", "993", "995", "1433",
        "1521", "1883", "2181", "2375", "2376", "2379", "3000", "3306", "3389", "4222", "4317", "4318", "5000",
        "5173", "5432", "5672", "5900", "6333", "6379", "6443", "7474", "7687", "8000", "8080", "8081", "8086",
        "8088", "8123", "8200", "8443", "8500", "8529", "8888", "9000", "9042", "9090", "9092", "9093", "9100",
        "9200", "9300", "9418", "9443", "11211", "11434", "15672", "19530", "26257", "27017", "50051",
    }
)  # fmt: skip


def _mask_path(path: str) -> str:
    """
    Keep the final name below temporary and home directories, and all names but made-up ones elsewhere.
    """
    path, question_mark, _ = path.partition("?")
    query = "?<query>" if question_mark else ""
    slashed = _SLASHES.sub("/", path)
    if not _VOLATILE_ROOT.match(slashed):
        return _SEGMENT.sub(lambda segment: _mask_segment(segment[0]), path) + query
    final = slashed.rpartition("/")[2]
    masked = f"<path>/{mask(final)}"
    return (mask(masked) if _has_digit(final) else masked) + query


def _mask_segment(segment: str) -> str:
    """
    Mask one name of a path, in which already a suffix of four hexadecimal digits tells instances apart.
    """
    if not _has_digit(segment):
        return segment
    return (
        "<id>"
        if segment.isdecimal()
        else mask(_SHORT_ID.sub("<id>", _UUID.sub("<id>", segment))).replace("<num>", "<id>")
    )


def _mask_url(url: str) -> str:
    """
    Keep scheme, host and the names in the path; mask ids, positions in the file and the query.
    """
    base, question_mark, _ = url.partition("?")
    scheme, _, rest = base.partition("://")
    if scheme == "file":
        return _mask_path(rest)
    host, slash, path = rest.partition("/")
    located = _POSITION.search(path)
    names = path[: located.start()] if located else path
    position = ":<num>" * located[0].count(":") if located else ""
    segments = _SEGMENT.sub(lambda segment: _mask_segment(segment[0]), names)
    return f"{scheme}://{_mask_host(host)}{slash}{segments}{position}{'?<query>' if question_mark else ''}"


def _mask_host(host: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon:
        return _IP_ADDRESS.sub("<ip>", host)
    return f"{_IP_ADDRESS.sub('<ip>', name)}:{_mask_port(port)}"


def _mask_ip(text: str) -> str:
    """
    Mask an address and the port behind it, in `ip:port` as in `('ip', port)`.
    """
    return _mask_port(_IP_ADDRESS.sub("<ip>", text))


def _mask_ip6(text: str) -> str:
    return "<ip>" if _has_digit(text) else text


def _mask_port(text: str) -> str:
    """
    Mask the number at the end of `text` unless it is a port that stands for a service.
    """
    return _FINAL_NUMBER.sub(lambda port: port[0] if port[0] in _SERVICE_PORTS else "<port>", text)


def _mask_hexadecimal(text: str) -> str:
    """
    Mask an object's address or a byte; status and result codes of Windows are kept.
    """
    if _FAULT_CODE.match(text):
        return text
    return "<addr>" if len(text) >= len("0x123456") else "<hex>"


# Values in quotes, brackets and formulas.

_COMMAND: Final = re.compile(
    r"\[?(?:['\"]?(?:/\w+)*/?(?:ba|z|da)?sh['\"]?,? ['\"]?-l?c['\"]?,? )?['\"]?"
    r"(?:[^\s'\",\]/]*/)*([\w.+-]+)(?:['\"]?,? ['\"]?([a-z][a-z-]*)(?=[\s'\",\]]))?"
)


def _mask_command(text: str) -> str:
    """
    Keep the program and its subcommand of `Command '...' returned` and `Command '[...]' timed out`.
    """
    command = _COMMAND.match(text, len("Command '"))
    words = filter(None, command.groups()) if command else ("<value>",)
    return f"Command '{' '.join(words)}'"


def _mask_row(text: str) -> str:
    return f"{text.partition(')=')[0]})=(<value>)"


def _mask_dimensions(text: str) -> str:
    return re.sub(r"[0-9]+", "<num>", text)


# Rules.

_JOINERS: Final = r"[-.@~+/%#]+"
_END: Final = r"(?!\w|\.[\w<:+-])"
_NUMBER: Final = r"[0-9](?:[0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]*(?:_[0-9]+)*)(?:\.[0-9]+)?"
_SIZE: Final = r" ?(?:[KMGTP]i?B|kB|bytes?)"
_TIME_UNIT: Final = (
    r"(?:[nuµm]?s|m|h| (?:s|ms|us)| ?(?:(?:milli|micro|nano)?seconds?|msecs?|secs?|minutes?|mins?|hours?|hrs?|days?))"
)
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_REST_OF_QUOTED: Final = r"(?:(?<=')[^'\n]*'|(?<=\")[^\"\n]*\")"
_COMMAND_FAILED: Final = r" (?:returned non-zero|timed out|died with)"
_FAILED_STATUS: Final = r"(?:4(?:[012][0-9]|31|51)|5(?:0[0-9]|1[01]))"
_REASON: Final = (
    r":? (?:Client Error|Server Error|Bad |Unauthorized|Payment Req|Forbidden|Not |Method Not|Proxy Auth|Request [TEHU]"
    r"|Conflict|Gone|Length |Precondition|Payload|Content T|URI|Unsupported M|Range|Expectation|Unprocessable"
    r"|Locked|Failed D|Too |Upgrade|Unavailable|Internal|Service|Gateway|OK|Created|Accepted|Moved|Found|page not f)"
)


def _behind(*texts: str) -> str:
    """
    Return a pattern that holds where one of `texts` and one character more have just passed.
    """
    return "(?:" + "|".join(f"(?<={text}.)" for text in texts) + ")"


_REST_OF_SERVICE_PORT: Final = "|".join(sorted(port[1:] for port in _SERVICE_PORTS if len(port) > _LONGEST_LINE))

RULES: Final[tuple[MaskRule, ...]] = (
    MaskRule(
        name="uuid",
        pattern=r"[0-9a-fA-F][0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)",
        replacement="<uuid>",
        masks=(("job 3f0d9a52-6b1e-4d7a-8c35-0e9b7d41f6a8 failed", "job <uuid> failed"),),
        keeps=("feedface-cafe",),
    ),
    MaskRule(
        name="ip6",
        pattern=(
            r"[0-9a-fA-F:](?:(?<=[0-9a-fA-F])[0-9a-fA-F]{0,3}(?::[0-9a-fA-F]{1,4}){0,6}::|(?<=:)(?<!::):)"
            r"(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6})?(?![\w:<])"
        ),
        replacement=_mask_ip6,
        masks=(("dial tcp [fe80::1]:5432", "dial tcp [<ip>]:5432"), ("no route to ::1", "no route to <ip>")),
        keeps=("no member named 'fade::bead'",),
    ),
    MaskRule(
        name="data",
        pattern=r"[A-Za-z0-9][A-Za-z0-9+/]{63,}={0,2}",
        replacement=_mask_blob,
        masks=(
            (
                "in iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAA=",
                "in <data>",
            ),
        ),
        keeps=("no file src/main/java/com/acme/warehouse/inventory/adapters/persistence/repository/impl",),
    ),
    # Numbers that mean something, known by the word before them.
    MaskRule(
        name="code",
        labels=(
            "code",
            "Code",
            "CODE",
            "status",
            "Status",
            "STATUS",
            "errno",
            "Errno",
            "http",
            "HTTP",
            "HTTPError",
            "HttpError",
            "WinError",
            r"\bos error",
            "SQLSTATE",
            r"\bexit",
            r"\bExit",
            "exited",
            r"\bexited with",
            "signal",
            r"\brc",
            "Response",
        ),
        pattern=rf"-?[0-9]{{1,10}}{_END}",
        replacement=_keep,
        masks=(("read 429 rows of code", "read <num> rows of code"),),
        keeps=(
            "APIError: HTTP 500",
            "Error code: 429 - {",
            '{"code":-32603}',
            "'status': 404",
            "grpc_status:14",
            "statusCode=503",
            "[Errno 13] Permission denied",
            "[WinError 10061]",
            "(os error 2)",
            "SQLSTATE[23000]",
            "exit code 127",
            "non-zero exit status 128.",
            "exited with 137",
            "killed by signal 9",
            "<Response [404]>",
        ),
    ),
    MaskRule(
        name="error_number",
        labels=("error", "Error", "ERROR"),
        pattern=rf"(?<![:'\"])(?<!: )-?[0-9]{{1,5}}{_END}(?! of )(?: \([0-9A-Z]{{5}}\))?",
        replacement=_keep,
        masks=(("KeyError: 90211", "KeyError: <num>"), ("KeyError: '90211'", "KeyError: '<num>'")),
        keeps=("ERROR 1045 (28000): Access denied", "make: *** [test] Error 2", "MCP error -32602: bad arguments"),
    ),
    MaskRule(
        name="answer",
        labels=("returned", "got", "received", "with", "unexpected", "failed", r"\berror", r"\bError"),
        pattern=rf"{_FAILED_STATUS}{_END}",
        replacement=_keep,
        masks=(("got 512 rows", "got <num> rows"),),
        keeps=("the server responded with 503", "The requested URL returned error: 403"),
    ),
    MaskRule(
        name="argument",
        labels=("argument", "Argument", r"\barg", "parameter", "Parameter", "operand", "axis", r"\bwith base"),
        pattern=rf"[0-9]{{1,2}}{_END}",
        replacement=_keep,
        masks=(("wrote 2 arguments", "wrote <num> arguments"),),
        keeps=("foo() argument 2 must be str, not int", "out of bounds for axis 1"),
    ),
    MaskRule(
        name="release",
        labels=("version", "Version", "python", "Python", "CUDA", "TLS", "SSL", "GLIBC", "Java", "Ruby", "PHP", "Go"),
        pattern=r"[v0-9][\w.+-]*",
        replacement=_keep,
        masks=(
            ("released 3 builds", "released <num> builds"),
            ("TLS 1.3, took 13", "TLS 1.3, took <num>"),
        ),
        keeps=("requires Python 3.11", "anthropic-version: 2023-06-01", "CUDA 12.1 is too old"),
    ),
    # Values, known by the word before them.
    MaskRule(
        name="port",
        labels=("port", "Port", "PORT", "localhost"),
        pattern=rf"[0-9]{{2,5}}{_END}",
        replacement=_mask_port,
        masks=(
            ("host='db.internal', port=45123", "host='db.internal', port=<port>"),
            ("connecting to localhost:38991", "connecting to localhost:<port>"),
            ("('localhost', 38991)", "('localhost', <port>)"),
        ),
        keeps=("Error 111 connecting to localhost:6379", "port 5432 failed"),
    ),
    MaskRule(
        name="labelled_id",
        labels=(r"\b[iI][dD]", r"\b[a-zA-Z][iI][dD]", "_[iI][dD]", "[a-z]I[dD]"),
        pattern=r"[\w.:+/=-]*\w",
        replacement="<id>",
        masks=(
            ("rejected (tid: 2025082103291044)", "rejected (tid: <id>)"),
            ("requestId=9b2-eastus-7:4", "requestId=<id>"),
            ("no user with id 81723", "no user with id <id>"),
        ),
        keeps=("the id is missing",),
    ),
    # Numbers that mean something, known by what stands around them.
    MaskRule(
        name="maximum",
        pattern=(
            r"[Mm](?:ax|in)(?:imum)?(?: (?!after|by|exceeded|for|got|reached|used|with)[a-z]{1,20}){0,4}"
            rf"[ :=(]{{1,3}}{_NUMBER}(?:{_SIZE}|{_TIME_UNIT})?{_END}"
        ),
        replacement=_keep,
        masks=(
            (
                "maximum context length is 131072 tokens, you requested 152311",
                "maximum context length is 131072 tokens, you requested <num>",
            ),
            ("maximum exceeded after 7 tries", "maximum exceeded after <num> tries"),
        ),
        keeps=("exceeds maximum allowed tokens (25000)",),
    ),
    MaskRule(
        name="limit",
        pattern=(
            r"[LlAanu](?:imit(?: is| of| was)?|t (?:most|least)|o more than|p to)"
            rf"[ :=(]{{1,3}}{_NUMBER}(?:{_SIZE}|{_TIME_UNIT})?{_END}"
        ),
        replacement=_keep,
        masks=(("Limit 30000, Used 29120", "Limit 30000, Used <num>"),),
        keeps=("limit of 10 MB", "expected at most 2 arguments"),
    ),
    MaskRule(
        name="status",
        pattern=rf"[1-5][0-9]{{2}}(?={_REASON})",
        replacement=_keep,
        masks=(("took 404 rows", "took <num> rows"),),
        keeps=("Client error '404 Not Found' for url", "502: Bad Gateway"),
    ),
    MaskRule(
        name="leading_status",
        pattern=r"[45](?<=: .)(?:(?<=4)(?:[012][0-9]|31|51)|(?<=5)(?:0[0-9]|1[01]))(?= [A-Z])",
        replacement=_keep,
        masks=(("row 404 was found", "row <num> was found"),),
        keeps=("NotFound: 404 Publisher Model was not found",),
    ),
    MaskRule(
        name="enclosed_status",
        pattern=r"[1-5](?:(?<=\(.)[0-9]{2}(?=\))|(?<=\" .)[0-9]{2}(?= [0-9<-]))",
        replacement=_keep,
        masks=(('"GET /x HTTP/1.1" 500 1234', '"GET /x HTTP/1.1" 500 <num>'),),
        keeps=("upload refused (403)",),
    ),
    MaskRule(
        name="database_code",
        pattern=r"[0-9](?:(?<=\(.)[0-9]{3}(?=, ['\"<])|(?<=ERROR:  .)[0-9]{4}(?=:))",
        replacement=_keep,
        masks=(("(1062 rows)", "(<num> rows)"),),
        keeps=("(1062, \"Duplicate column name 'a'\")", "ERROR:  23505: duplicate key"),
    ),
    MaskRule(
        name="service",
        pattern=(rf"[1-9](?<=[a-z\]>:]:.)(?:{_REST_OF_SERVICE_PORT}){_END}"),
        replacement=_keep,
        masks=(("dial tcp db:38991", "dial tcp db:<num>"),),
        keeps=("dial tcp db:5432: connection refused", "address already in use :::3000"),
    ),
    # Values by their form.
    MaskRule(
        name="date",
        pattern=rf"[0-9][0-9]{{3}}(?:-[0-9]{{2}}-|/[0-9]{{2}}/)[0-9]{{2}}(?:[T ]{_CLOCK})?{_END}",
        replacement="<time>",
        masks=(
            ("2026-11-20T11:57:57.123Z ERROR worker: boom", "<time> ERROR worker: boom"),
            ("2026-11-21 00:18:17,004 ERROR worker: boom", "<time> ERROR worker: boom"),
            ("no flight on 2024-05-18", "no flight on <time>"),
        ),
        keeps=("model gpt-4o-2024-08-06 not found",),
    ),
    MaskRule(
        name="clock",
        pattern=rf"[0-9][0-9]?:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]{{1,9}})?(?: ?[AP]M)?{_END}",
        replacement="<time>",
        masks=(("failed at 11:57:57.123", "failed at <time>"),),
        keeps=("Node.js v20.20.2",),
    ),
    MaskRule(
        name="day_first",
        pattern=rf"[0-9][0-9]?(?:/{_MONTH}/|/[0-9]{{1,2}}/|[ -]{_MONTH}[ -])[0-9]{{4}}(?:[: ]{_CLOCK})?{_END}",
        replacement="<time>",
        masks=(("[20/Nov/2026:11:57:57 +0000] boom", "[<time>] boom"), ("expired 20 Nov 2026", "expired <time>")),
        keeps=("20th of May",),
    ),
    MaskRule(
        name="month_first",
        pattern=rf"[A-Z][a-z]{{2}}(?<={_MONTH}) {{1,2}}[0-9]{{1,2}}(?:,? [0-9]{{4}})? {_CLOCK}(?: [0-9]{{4}})?{_END}",
        replacement="<time>",
        masks=(("Nov  5 10:11:12 host app: boom", "<time> host app: boom"),),
        keeps=("May I retry",),
    ),
    MaskRule(
        name="time_stamp",
        pattern=(
            r"[12][0-9]{3}(?:[0-9]{4}[T_-]?[0-9]{6}|-[0-9]{2}-[0-9]{2}[T_-](?:[0-9]{2}[_-]){2}[0-9]{2}(?:[_-][0-9]{3})?)"
            r"Z?(?!\w)"
        ),
        replacement="<time>",
        masks=(
            ("backup 20261120T115757Z is missing", "backup <time> is missing"),
            ("see 2024-01-05T10_11_12_345Z-debug-0.log", "see <time>-debug-0.log"),
        ),
        keeps=("model claude-3-5-sonnet-20241022",),
    ),
    MaskRule(
        name="ip",
        pattern=rf"[0-9][0-9]{{0,2}}(?:\.[0-9]{{1,3}}){{3}}(?:(?::|['\"], ?)[0-9]{{1,5}})?{_END}",
        replacement=_mask_ip,
        masks=(
            ("Connect call failed ('127.0.0.1', 51234)", "Connect call failed ('<ip>', <port>)"),
            ("connect ECONNREFUSED 10.0.3.7:5432", "connect ECONNREFUSED <ip>:5432"),
        ),
        keeps=(
            "version 2.0.0.1",
            "numpy 1.26.4",
        ),
    ),
    MaskRule(
        name="version",
        pattern=r"[0-9][0-9]{0,4}\.[0-9]{1,5}\.[0-9]{1,5}(?!\.?[0-9])[\w+-]*(?:\.[A-Za-z]\w*)*(?!\.[\w<])",
        replacement=_keep,
        masks=(("took 1.26 of it", "took <num> of it"),),
        keeps=("no matching version: numpy 1.26.4", "app@1.4.0 build", "Node.js v20.20.2"),
    ),
    MaskRule(
        name="required_version",
        pattern=r"[0-9](?<=[=<>~!]=.|,[<>].)[0-9]*(?:\.[0-9]+)*(?![\w.])",
        replacement=_keep,
        masks=(("score = 3", "score = <num>"),),
        keeps=("3.8.10 not in '>=3.9,<4'", "pydantic==2 is needed"),
    ),
    MaskRule(
        name="address",
        pattern=rf"0x[0-9a-fA-F]+{_END}",
        replacement=_mask_hexadecimal,
        masks=(
            ("<__main__.Job object at 0x7fdf47b5e650>", "<__main__.Job object at <addr>>"),
            ("can't decode byte 0xff in position 727", "can't decode byte <hex> in position <num>"),
        ),
        keeps=("failed: 0x80070005", "crashed: 0xC0000005"),
    ),
    MaskRule(
        name="duration",
        pattern=rf"{_NUMBER}{_TIME_UNIT}(?!\w)(?: {_NUMBER}{_TIME_UNIT}(?!\w))*",
        replacement="<duration>",
        masks=(
            ("try again in 1.908s.", "try again in <duration>."),
            ("try again in 820ms.", "try again in <duration>."),
            ("timed out after 30 seconds", "timed out after <duration>"),
        ),
        keeps=("a 3d array",),
    ),
    MaskRule(
        name="joined_duration",
        pattern=r"[0-9][0-9]*[hm](?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?(?!\w)",
        replacement="<duration>",
        masks=(("gave up after 1h2m3.5s", "gave up after <duration>"),),
        keeps=(
            "h264",
            "h2 stream",
        ),
    ),
    MaskRule(
        name="size",
        pattern=rf"{_NUMBER}{_SIZE}(?!\w)",
        replacement="<size>",
        masks=(("Tried to allocate 865.00 MiB", "Tried to allocate <size>"),),
        keeps=("Llama-3.3-70B",),
    ),
    MaskRule(
        name="dimensions",
        pattern=rf"[0-9][0-9]*(?:[x\u00d7][0-9]+)+{_END}",
        replacement=_mask_dimensions,
        masks=(("cannot multiply (32x784 and 512x10)", "cannot multiply (<num>x<num> and <num>x<num>)"),),
        keeps=(
            "x264 codec",
            "mp3x2",
        ),
    ),
    MaskRule(
        name="number",
        pattern=rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?{_END}",
        replacement="<num>",
        masks=(
            ("bash: line 23: jqq: command not found", "bash: line <num>: jqq: command not found"),
            ("src/ring.c:18:27: error: 'limit'", "src/ring.c:<num>:<num>: error: 'limit'"),
            ("line 1 column 9 (char 8)", "line <num> column <num> (char <num>)"),
            ("used 1,048,576 of 3.5e6", "used <num> of <num>"),
            ("User '4711' not found", "User '<num>' not found"),
        ),
        keeps=("name 'col_1' is not defined", "error[E0382]: borrow", "error TS2345: no", "the 2nd argument"),
    ),
    MaskRule(
        name="signed_number",
        pattern=rf"[+-]{_NUMBER}(?:[eE][+-]?[0-9]+)?{_END}",
        replacement="<num>",
        masks=(("expected 5, got -5", "expected <num>, got <num>"),),
        keeps=(
            "gpt-4",
            "row x-5",
        ),
    ),
    MaskRule(
        name="url",
        pattern=r"[a-z][a-z0-9+]{1,15}://[\w\[/][^\s'\"<>(){}|\\^`,]*(?<![.:;!?])",
        replacement=_mask_url,
        masks=(
            (
                "for url: https://api.example.org/v2/parts/55310?t=2031",
                "for url: https://api.example.org/v2/parts/<id>?<query>",
            ),
            ("at https://x.io/a/index-4185d9aa.js:1:84432", "at https://x.io/a/index-<hash>.js:<num>:<num>"),
            ("at https://x.io/a/index-BF3OJZ91.js:1:84991", "at https://x.io/a/index-<hash>.js:<num>:<num>"),
            ("GET http://10.0.0.5:38991/", "GET http://<ip>:<port>/"),
            ("cannot open file:///tmp/run_1/app.py.", "cannot open <path>/app.py."),
        ),
        keeps=("redis://cache:6379/main", "https://errors.example.com/v2/missing"),
    ),
    MaskRule(
        name="quoted_path",
        pattern=(r"/(?<=['\"].)(?:tmp|var/tmp|private|home|Users|root)/[^'\"\n<>|*?]*[\w~](?=['\"])"),
        replacement=_mask_path,
        masks=(("cannot access '/home/ann/my proj/foo bar.txt'", "cannot access '<path>/foo bar.txt'"),),
        keeps=("'/etc/app/my conf.ini'",),
    ),
    MaskRule(
        name="path",
        pattern=(r"/(?<![>./\\~%#@+-].)(?!/)[\w.@+~%#/-]*[\w/~](?:\?[\w=&%.+-]+|(?!\w|[-.@~+%#]*<|[-.@~+%#]+\w))"),
        replacement=_mask_path,
        masks=(
            ("No such file: '/tmp/tmpk3j2h1/config.json'", "No such file: '<path>/config.json'"),
            ("/home/bob/src/app.py:40: boom", "<path>/app.py:<num>: boom"),
            ("denied: '/var/lib/app-65ee/state.db'", "denied: '/var/lib/app-<id>/state.db'"),
            ("with url: /v1/items/55310?t=2031", "with url: /v1/items/<id>?<query>"),
        ),
        keeps=("denied: '/etc/nginx/nginx.conf'", "Cannot GET /api/users", "and/or", "/usr/lib/python3.11/json"),
    ),
    MaskRule(
        name="home_path",
        pattern=r"~(?<![-.@~+/%#].)/[\w.@+~%#/-]*[\w/~]",
        replacement=_mask_path,
        masks=(("no ~/.config/app/settings.toml", "no <path>/settings.toml"),),
        keeps=("~user",),
    ),
    MaskRule(
        name="windows_path",
        pattern=r"[A-Za-z](?<![^\s'\"(=].):[\\/][^\s'\":<>|?*,;()\[\]{}]*[\w~]",
        replacement=_mask_path,
        masks=((r"C:\Users\ann\proj\app.py:12: boom", "<path>/app.py:<num>: boom"),),
        keeps=(r"cannot open D:\data\orders.csv",),
    ),
    MaskRule(
        name="literal",
        pattern=(
            r"['\"](?:(?<=[a-z0]: .)"
            + _behind(
                "base 10: ",
                "to float: ",
                "isoformat string: ",
                "input string: ",
                "type integer: ",
                "type bigint: ",
                "type numeric: ",
                "type uuid: ",
                "type boolean: ",
                "type date: ",
                "int value: ",
                "float value: ",
                "data remains: ",
            )
            + r"|(?<=[a-z=] .)"
            + _behind("Duplicate entry ", "parsing ", "time data ", "assert ", " == ", " != ")
            + rf"){_REST_OF_QUOTED}"
        ),
        replacement="<value>",
        masks=(
            ("invalid literal for int() with base 10: 'abc'", "invalid literal for int() with base 10: <value>"),
            ("assert 'nnqwfl' == 'alice'", "assert <value> == <value>"),
            ("Duplicate entry 'ann' for key 'users.email'", "Duplicate entry <value> for key 'users.email'"),
        ),
        keeps=("KeyError: 'a'", "No module named 'pandaz'", "Unknown tool 'serach_web'", "host='db.internal'"),
    ),
    MaskRule(
        name="rejected_literal",
        pattern=(
            r"['\"](?:(?<=')[^'\n<]*'|(?<=\")[^\"\n<]*\")(?= (?:==|!=|is not in list|is not valid JSON|is not of type"
            r"|is not one of|is too short|is too long|does not match [f'\"]"
            r"|is not a valid (?:[A-Z]|integer|float|number|boolean|uuid|date|email|url)))"
        ),
        replacement="<value>",
        masks=(
            ("'blurple' is not a valid Color", "<value> is not a valid Color"),
            ("'abc' is not of type 'integer'", "<value> is not of type 'integer'"),
        ),
        keeps=("name 'np' is not defined", "'np' is not a git command", "pathspec 'x' did not match any file"),
    ),
    MaskRule(
        name="reported_value",
        pattern=r"i(?<= .)nput_value=(?:(?!, input_type=|input_value=)[^\n])*(?=, input_type=)",
        replacement="input_value=<value>",
        masks=(
            (
                "[type=missing, input_value={'sku': 'A1'}, input_type=dict]",
                "[type=missing, input_value=<value>, input_type=dict]",
            ),
        ),
        keeps=("input_value='x' was refused",),
    ),
    MaskRule(
        name="command",
        pattern=(
            rf"C(?<![^\s'\"(].)ommand ['\[](?:[^\n'\]C]|['\]](?!{_COMMAND_FAILED})|C(?!ommand ['\[]))*['\]]"
            rf"(?={_COMMAND_FAILED})"
        ),
        replacement=_mask_command,
        masks=(
            (
                "Command '['bash', '-c', 'nosuchprog --x wkdtrp']' returned non-zero exit status 127.",
                "Command 'nosuchprog' returned non-zero exit status 127.",
            ),
            ("Command 'git push origin x7' timed out after 5 seconds", "Command 'git push' timed out after <duration>"),
            ("Command '$X' died with <Signals.SIGKILL: 9>.", "Command '<value>' died with <Signals.SIGKILL: <num>>."),
        ),
        keeps=("Command 'git push' was refused",),
    ),
    MaskRule(
        name="row",
        pattern=r"K(?<![^\s'\"(].)ey \([^()\n]{1,200}\)=\([^()\n]*\)",
        replacement=_mask_row,
        masks=(("Key (email)=(ann) already exists.", "Key (email)=(<value>) already exists."),),
        keeps=("Key (email) is not present in the table",),
    ),
    MaskRule(
        name="email",
        near_digit=True,
        pattern=r"(?<!_)(?<!g(?=it@))[\w.+-]{0,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,12}(?![\w@:-])",
        replacement="<email>",
        masks=(("no account for ann@mail.example.com", "no account for <email>"),),
        keeps=("git@github.com:acme/app.git", "app@1.4.0"),
    ),
    # Last, since their patterns take in whole names.
    MaskRule(
        name="digits_first",
        pattern=rf"[0-9]\w*(?:{_JOINERS}\w+)*",
        replacement=_mask_name,
        masks=(
            ("No such container: 4f5e6d7c8b9a", "No such container: <id>"),
            ("3344.py failed", "<id>.py failed"),
        ),
        keeps=("pluto 7b-instruct",),
    ),
    MaskRule(
        name="name",
        near_digit=True,
        pattern=rf"(?=[A-Za-z_./~+%#-]{{0,64}}[0-9@])\w*(?:{_JOINERS}\w+)*",
        replacement=_mask_name,
        masks=(
            ("'request_id': 'req_7f3a9b1c2d'", "'request_id': 'req_<id>'"),
            ("No such customer: 'cus_NffrFeUfNV2Hib'", "No such customer: 'cus_<id>'"),
            ("in 'tmpzz81qa/config.json'", "in '<tmp>/config.json'"),
            ("items.0.qty: Field required", "items.<index>.qty: Field required"),
            ('pods "web-6d4cf56db6-x2x7z" not found', 'pods "web-<id>" not found'),
            ("Task-42 was destroyed", "Task-<id> was destroyed"),
            ("java.lang.Object@1b6d3586", "java.lang.Object@<id>"),
            ("user mia_li_3668 not found", "user mia_li_<id> not found"),
        ),
        keeps=(
            "model 'claude-3-5-sonnet-20241022' not found",
            "model gpt-4.1",
            "'utf-8' codec",
            "relation orders_2024",
            "ORA-00942",
            "libcudart.so.12: cannot open",
            "linear_model2",
            "table price_list_2024",
            "TestUtf8ToUtf16Conversion",
        ),
    ),
)

_VALUE: Final = re.compile(r"<(?:num|size|value)>")
_TOKENS: Final = "addr|data|duration|email|hex|ip|num|port|query|size|time|uuid"
_TOKENS_IN_NAMES: Final = "hash|id|index|tmp"
_SEPARATOR: Final = r"['\"]?[ :=#(\[,]{1,3}['\"]?"
_REPLACEMENTS: Final[dict[str | None, tuple[str | Callable[[str], str], str | None]]] = {
    rule.name: (rule.replacement, f"label_{rule.name}" if rule.labels else None) for rule in RULES
}


def _behind_label(rule: MaskRule) -> str:
    labels = "|".join(f"(?<={label})" for label in rule.labels)
    return rf"(?:{labels}){_SEPARATOR}(?P<label_{rule.name}>)(?:{rule.pattern})(?P<{rule.name}>)"


def _alternatives(rules: list[MaskRule]) -> str:
    """
    Join the patterns of `rules`.

    The empty group that names a rule stands behind its pattern: the engine skips an alternative by its first character
    only where that is a character or a class, and groups in front would cost seven times as much.
    """
    return "|".join(f"{rule.pattern}(?P<{rule.name}>)" for rule in rules)


def _compile_rules() -> re.Pattern[str]:
    """
    Compile the rules into one alternation.

    Most words of a message are plain. So rules for words, by label or by name, share one test that a digit or `@` is
    near; its look-ahead with a back reference stands for the atomic group that Python has since 3.11.
    """
    first = RULES.index(next(rule for rule in RULES if rule.labels))
    by_label = "|".join(_behind_label(rule) for rule in RULES if rule.labels)
    by_form = [rule for rule in RULES[first:] if not rule.labels and not rule.near_digit]
    by_word = [rule for rule in RULES if rule.near_digit]
    gate = r"(?=(?=(?P<plain>[A-Za-z_./~+%#-]{0,64}['\" :=#(\[,]{0,4}))(?P=plain)-?[0-9@])"
    word = r"(?=(?P<word>[A-Za-z_]*))(?P=word)"
    labelled = rf"{word}(?={_SEPARATOR}-?[v0-9])(?:{by_label})"
    # What is masked already stays, with what was kept beside it, so that a template is its own template.
    masked = (
        rf"<(?:(?:(?:{_TOKENS_IN_NAMES})>(?:{_JOINERS}\w+)*|path>(?:/[\w.@+~%#-]*)?|(?:{_TOKENS})>)[^\w\s<]?|value>)"
    )
    return re.compile(
        rf"(?<!\w)(?:{_alternatives(list(RULES[:first]))}|[A-Za-z_]{gate}(?:{labelled}|{_alternatives(by_word)})"
        rf"|{_alternatives(by_form)})|{masked}"
    )


_PATTERN: Final = _compile_rules()
