"""
Rules of masking: at each place the first rule that matches decides.

A rule that keeps a text stands before the rules that would mask it. The tests run each rule's examples, and the
documentation prints them.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Parts = Literal[
    "command", "data", "dimensions", "here", "hexadecimal", "ip", "ip6", "name", "path", "port", "row", "url"
]  # fmt: skip


class MaskRule(NamedTuple):
    """One kind of text, and how a template shows it."""

    name: str
    """The rule's name, and the name of its group in the compiled pattern."""

    pattern: str
    """
    A regular expression. It begins with a character or a class, so that the engine can skip it quickly, and its
    repetitions are bounded or exclude what follows them, so that it runs in linear time.
    """

    placeholder: str = ""
    """The text in the template; empty for a rule that keeps the text or masks its parts."""

    by_parts: Parts | None = None
    """The function of `masking` that masks the text part by part."""

    labels: tuple[str, ...] = ()
    """Ends of words that must stand before the text, as patterns of fixed width; the words stay."""

    masks: tuple[tuple[str, str], ...] = ()
    """Texts and their templates."""

    keeps: tuple[str, ...] = ()
    """Texts that are their own templates."""


_LONGEST_LINE: Final = len("999")
"""Digits up to which a number behind a name and a colon is a line, not a port."""

SERVICE_PORTS: Final = frozenset(
    {
        "21", "22", "23", "25", "53", "80", "110", "143", "389", "443", "465", "587", "636", "993", "995", "1433",
        "1521", "1883", "2181", "2375", "2376", "2379", "3000", "3306", "3389", "4222", "4317", "4318", "5000",
        "5173", "5432", "5672", "5900", "6333", "6379", "6443", "7474", "7687", "8000", "8080", "8081", "8086",
        "8088", "8123", "8200", "8443", "8500", "8529", "8888", "9000", "9042", "9090", "9092", "9093", "9100",
        "9200", "9300", "9418", "9443", "11211", "11434", "15672", "19530", "26257", "27017", "50051",
    }
)  # fmt: skip

JOINERS: Final = r"[-.@~+/%#]+"
"""Characters that join the words of a name."""

_END_OF_ID: Final = r"(?:(?<=\w{12})(?:={1,2}|-{1,2})(?![\w<=-]))?"
"""What the alphabets of some ids allow at the end."""

_END: Final = r"(?!\w|\.[\w<:+-]|-[\w-]{15})"
_NUMBER: Final = r"[0-9](?:[0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]*(?:_[0-9]+)*)(?:\.[0-9]+)?"
_SIZE: Final = r" ?(?:[KMGTP]i?B|kB|bytes?)"

_TIME_UNIT: Final = (
    r"(?:[nuµm]?s|m|h| (?:s|ms|us)| ?(?:(?:milli|micro|nano)?seconds?|msecs?|secs?|minutes?|mins?|hours?|hrs?|days?))"
)
_HALF: Final = r"(?: ?[AaPp][Mm]\b)?"
_ZONE: Final = r"(?: ?(?:Z|(?:UTC|GMT|CES?T|BST|[IJ]ST|[ECMP][DS]T)\b|[+-][0-9]{2}:?[0-9]{2}(?: [A-Z]{3,4}\b)?))?"
_CLOCK: Final = rf"[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]{{1,9}})?)?{_HALF}{_ZONE}"
_MONTH: Final = (
    r"[JFMASOND](?:(?<=J)(?:an(?:uary)?|une?|uly?)|(?<=F)eb(?:ruary)?|(?<=M)a(?:r(?:ch)?|y)|(?<=A)(?:pr(?:il)?|ug(?:ust)?)"
    r"|(?<=S)ept?(?:ember)?|(?<=O)ct(?:ober)?|(?<=N)ov(?:ember)?|(?<=D)ec(?:ember)?)"
)
_DAY: Final = r"[0-9][0-9]?(?:[snrt][tdh])?"
_DAY_FIRST: Final = rf"{_DAY}(?:/{_MONTH}/|/[0-9]{{1,2}}/|[ -]{_MONTH}[ -])[0-9]{{4}}(?:(?:[: ]|,? at ){_CLOCK})?{_END}"
_MONTH_FIRST: Final = (
    rf"{_MONTH} {{1,2}}{_DAY}(?:,? [12][0-9]{{3}}(?![\w:]))?(?:(?:,? at|,)? {_CLOCK}(?: [12][0-9]{{3}}(?!\w))?)?{_END}"
)
_REST_OF_QUOTED: Final = r"(?:(?<=')[^'\n]*'|(?<=\")[^\"\n]*\")"
_COMMAND_FAILED: Final = r" (?:returned non-zero|timed out|died with)"
_FAILED_STATUS: Final = r"(?:4(?:[012][0-9]|31|51)|5(?:0[0-9]|1[01]|29))"

_REASON: Final = (
    r"(?:, message=|:? (?:Client Error|Server Error|Bad |Unauthorized|Payment Req|Forbidden|Not "
    r"|Method Not|Proxy Auth|Request [TEHU]|Conflict|Gone|Length |Precondition|Payload"
    r"|Content T|URI|Unsupported M|Range|Expectation|Unprocessable"
    r"|Locked|Failed D|Too |Upgrade|Unavailable|Internal|Service|Gateway|OK|Created|Accepted|Moved|Found|page not f"
    r"|error response))"
)


def _build_lookbehind(*texts: str) -> str:
    return "(?:" + "|".join(f"(?<={text}.)" for text in texts) + ")"


_REST_OF_SERVICE_PORT: Final = "|".join(sorted(port[1:] for port in SERVICE_PORTS if len(port) > _LONGEST_LINE))

RULES: Final[tuple[MaskRule, ...]] = (
    MaskRule(
        name="uuid",
        pattern=r"[0-9a-fA-F][0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)",
        placeholder="<id>",
        masks=(("no row 3f0d9a52-6b1e-4d7a-8c35-0e9b7d41f6a8", "no row <id>"),),
        keeps=("feedface-cafe",),
    ),
    MaskRule(
        name="ip6",
        pattern=(
            r"[0-9a-fA-F:](?:(?<=[0-9a-fA-F])[0-9a-fA-F]{0,3}(?::[0-9a-fA-F]{1,4}){0,6}::|(?<=:)(?<!::):)"
            r"(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6})?(?![\w:<])"
        ),
        by_parts="ip6",
        masks=(("dial tcp [fe80::1]:5432", "dial tcp [<ip>]:5432"), ("no route to ::1", "no route to <ip>")),
        keeps=("no member named 'fade::bead'",),
    ),
    MaskRule(
        name="data",
        pattern=r"[A-Za-z0-9][A-Za-z0-9+/]{63,}={0,2}",
        by_parts="data",
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
        masks=(("KeyError: 90211", "KeyError: <num>"), ("KeyError: '90211'", "KeyError: '<num>'")),
        keeps=("ERROR 1045 (28000): Access denied", "make: *** [test] Error 2", "MCP error -32602: bad arguments"),
    ),
    MaskRule(
        name="answer",
        labels=("returned", "answered", "got", "received", "with", "unexpected", "failed", r"\berror", r"\bError"),
        pattern=rf"{_FAILED_STATUS}{_END}",
        masks=(("got 512 rows", "got <num> rows"),),
        keeps=("the server responded with 503", "The requested URL returned error: 403"),
    ),
    MaskRule(
        name="argument",
        labels=("argument", "Argument", r"\barg", "parameter", "Parameter", "operand", "axis", r"\bwith base"),
        pattern=rf"[0-9]{{1,2}}{_END}",
        masks=(("wrote 2 arguments", "wrote <num> arguments"),),
        keeps=("foo() argument 2 must be str, not int", "out of bounds for axis 1"),
    ),
    MaskRule(
        name="release",
        labels=("version", "Version", "python", "Python", "CUDA", "TLS", "SSL", "GLIBC", "Java", "Ruby", "PHP", "Go"),
        pattern=r"[v0-9][\w.+-]*",
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
        by_parts="port",
        masks=(
            ("host='db.internal', port=45123", "host='db.internal', port=<port>"),
            ("connecting to localhost:38991", "connecting to localhost:<port>"),
            ("('localhost', 38991)", "('localhost', <port>)"),
        ),
        keeps=("Error 111 connecting to localhost:6379", "port 5432 failed"),
    ),
    # Numbers that mean something, known by what stands around them.
    MaskRule(
        name="maximum",
        pattern=(
            r"[Mm](?:ax|in)(?:imum)?"
            r"(?: (?!after|attempts|by|exceeded|for|got|reached|retries|tries|used|with)[a-z]{1,20}){0,4}"
            rf"[ :=(]{{1,3}}{_NUMBER}(?:{_SIZE}|{_TIME_UNIT})?{_END}"
        ),
        masks=(
            (
                "maximum context length is 131072 tokens, you requested 152311",
                "maximum context length is 131072 tokens, you requested <num>",
            ),
            ("maximum exceeded after 7 tries", "maximum exceeded after <num> tries"),
            ("reached max retries: 4", "reached max retries: <num>"),
        ),
        keeps=("exceeds maximum allowed tokens (25000)",),
    ),
    MaskRule(
        name="limit",
        pattern=(
            r"[LlAanu](?:imit(?: is| of| was)?|t (?:most|least)|o more than|p to)"
            rf"[ :=(]{{1,3}}{_NUMBER}(?:{_SIZE}|{_TIME_UNIT})?{_END}"
        ),
        masks=(("Limit 30000, Used 29120", "Limit 30000, Used <num>"),),
        keeps=("limit of 10 MB", "expected at most 2 arguments"),
    ),
    MaskRule(
        name="status",
        pattern=rf"[1-5][0-9]{{2}}(?={_REASON})",
        masks=(("took 404 rows", "took <num> rows"),),
        keeps=("Client error '404 Not Found' for url", "502: Bad Gateway"),
    ),
    MaskRule(
        name="leading_status",
        pattern=r"[45](?<=: .)(?:(?<=4)(?:[012][0-9]|31|51)|(?<=5)(?:0[0-9]|1[01]|29))(?= [A-Z])",
        masks=(("row 404 was found", "row <num> was found"),),
        keeps=("NotFound: 404 Publisher Model was not found",),
    ),
    MaskRule(
        name="enclosed_status",
        pattern=r"[1-5](?:(?<=\(.)[0-9]{2}(?=\))|(?<=\" .)[0-9]{2}(?= [0-9<-]))",
        masks=(('"GET /x HTTP/1.1" 500 1234', '"GET /x HTTP/1.1" 500 <num>'),),
        keeps=("upload refused (403)",),
    ),
    MaskRule(
        name="database_code",
        pattern=r"[0-9](?:(?<=\(.)[0-9]{3}(?=, ['\"<])|(?<=ERROR:  .)[0-9]{4}(?=:))",
        masks=(("(1062 rows)", "(<num> rows)"),),
        keeps=("(1062, \"Duplicate column name 'a'\")", "ERROR:  23505: duplicate key"),
    ),
    MaskRule(
        name="service",
        pattern=(rf"[1-9](?<=[a-z\]>:]:.)(?:{_REST_OF_SERVICE_PORT}){_END}"),
        masks=(("dial tcp db:38991", "dial tcp db:<num>"),),
        keeps=("dial tcp db:5432: connection refused", "address already in use :::3000"),
    ),
    # Values by their form.
    MaskRule(
        name="date",
        pattern=rf"[0-9][0-9]{{3}}(?:-[0-9]{{2}}-|/[0-9]{{2}}/)[0-9]{{2}}(?:(?:[T ]|,? at ){_CLOCK})?{_END}",
        placeholder="<time>",
        masks=(
            ("2026-11-20T11:57:57.123Z ERROR worker: boom", "<time> ERROR worker: boom"),
            ("2026-11-21 00:18:17,004 ERROR worker: boom", "<time> ERROR worker: boom"),
            ("no flight on 2024-05-18", "no flight on <time>"),
        ),
        keeps=("model gpt-4o-2024-08-06 not found",),
    ),
    MaskRule(
        name="clock",
        pattern=rf"[0-9][0-9]?:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]{{1,9}})?{_HALF}{_ZONE}| ?[AaPp][Mm]\b){_END}",
        placeholder="<time>",
        masks=(("failed at 11:57:57.123", "failed at <time>"), ("failed at 9:57 PM", "failed at <time>")),
        keeps=("Node.js v20.20.2",),
    ),
    MaskRule(
        name="day_first",
        pattern=_DAY_FIRST,
        placeholder="<time>",
        masks=(
            ("[20/Nov/2026:11:57:57 +0000] boom", "[<time>] boom"),
            ("expired 20 November 2026 at 9:57 PM", "expired <time>"),
        ),
        keeps=("20th of May",),
    ),
    MaskRule(
        name="month_first",
        pattern=_MONTH_FIRST,
        placeholder="<time>",
        masks=(("Nov  5 10:11:12 host app: boom", "<time> host app: boom"), ("since March 5, 2026", "since <time>")),
        keeps=("May I retry",),
    ),
    MaskRule(
        name="weekday",
        pattern=(
            r"[MTWFS](?:on|u(?:es?)|ed(?:nes)?|hu(?:rs)?|ri|at(?:ur)?|un)(?:day)?,? {1,2}"
            rf"(?:{_MONTH_FIRST}|{_DAY_FIRST})"
        ),
        placeholder="<time>",
        masks=(
            ("Mon, 23 Nov 2026 10:00:00 GMT: boom", "<time>: boom"),
            ("Mon Nov 23 10:00:01 UTC 2026 boom", "<time> boom"),
        ),
        keeps=("Sun shines",),
    ),
    MaskRule(
        name="time_stamp",
        pattern=(
            r"[12][0-9]{3}(?:[0-9]{4}[T_-]?[0-9]{6}|-[0-9]{2}-[0-9]{2}[T_-](?:[0-9]{2}[_-]){2}[0-9]{2}(?:[_-][0-9]{3})?)"
            r"Z?(?!\w)"
        ),
        placeholder="<time>",
        masks=(
            ("backup 20261120T115757Z is missing", "backup <time> is missing"),
            ("see 2024-01-05T10_11_12_345Z-debug-0.log", "see <time>-debug-0.log"),
        ),
        keeps=("model claude-3-5-sonnet-20241022",),
    ),
    MaskRule(
        name="ip",
        pattern=rf"[0-9][0-9]{{0,2}}(?:\.[0-9]{{1,3}}){{3}}(?:(?::|['\"], ?)[0-9]{{1,5}})?{_END}",
        by_parts="ip",
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
        masks=(("took 1.26 of it", "took <num> of it"),),
        keeps=("no matching version: numpy 1.26.4", "app@1.4.0 build", "Node.js v20.20.2"),
    ),
    MaskRule(
        name="build_number",
        pattern=rf"[0-9][0-9]{{0,2}}\.[0-9]{{1,5}}\.[0-9]{{4,5}}\.[0-9]{{1,5}}{_END}",
        placeholder="<num>",
        masks=(("(Session info: chrome=131.0.6778.85)", "(Session info: chrome=<num>)"),),
        keeps=("version 131.0.6778.85",),
    ),
    MaskRule(
        name="required_version",
        pattern=r"[0-9](?<=[=<>~!]=.|,[<>].)[0-9]*(?:\.[0-9]+)*(?![\w.]|==)",
        masks=(("score = 3", "score = <num>"), ("==4711==ERROR: SEGV", "==<num>==ERROR: SEGV")),
        keeps=("3.8.10 not in '>=3.9,<4'", "pydantic==2 is needed"),
    ),
    MaskRule(
        name="address",
        pattern=rf"0x[0-9a-fA-F]+{_END}",
        by_parts="hexadecimal",
        masks=(
            ("<__main__.Job object at 0x7fdf47b5e650>", "<__main__.Job object at <addr>>"),
            ("can't decode byte 0xff in position 727", "can't decode byte <hex> in position <num>"),
        ),
        keeps=("failed: 0x80070005", "crashed: 0xC0000005"),
    ),
    MaskRule(
        name="braced_address",
        pattern=r"[0-9](?<=\{.)[0-9A-F]{7,15}(?=\})",
        placeholder="<addr>",
        masks=(
            ('#<THREAD "main" {1001348003}>', '#<THREAD "main" {<addr>}>'),
            ('#<THREAD "main" {10047A2003}>', '#<THREAD "main" {<addr>}>'),
        ),
        keeps=("{ABC}",),
    ),
    MaskRule(
        name="duration",
        pattern=rf"{_NUMBER}{_TIME_UNIT}(?!\w)(?: {_NUMBER}{_TIME_UNIT}(?!\w))*",
        placeholder="<duration>",
        masks=(
            ("try again in 1.908s.", "try again in <duration>."),
            ("try again in 820ms.", "try again in <duration>."),
            ("timed out after 30 seconds", "timed out after <duration>"),
        ),
        keeps=("a 3d array",),
    ),
    MaskRule(
        name="joined_duration",
        pattern=(
            r"[0-9][0-9]*(?:[hm](?:[0-9]+m)?(?:[0-9]+(?:\.[0-9]+)?s)?|[wdy](?:[0-9]+[wdhm])+|(?<=[0-9]{2})d)(?!\w)"
        ),
        placeholder="<duration>",
        masks=(
            ("gave up after 1h2m3.5s", "gave up after <duration>"),
            ("Pending for 2d4h", "Pending for <duration>"),
        ),
        keeps=(
            "h264",
            "h2 stream",
        ),
    ),
    MaskRule(
        name="size",
        pattern=rf"{_NUMBER}{_SIZE}(?!\w)",
        placeholder="<size>",
        masks=(("Tried to allocate 865.00 MiB", "Tried to allocate <size>"),),
        keeps=("Llama-3.3-70B",),
    ),
    MaskRule(
        name="dimensions",
        pattern=rf"[0-9][0-9]*(?:[x\u00d7][0-9]+)+{_END}",
        by_parts="dimensions",
        masks=(("cannot multiply (32x784 and 512x10)", "cannot multiply (<num>x<num> and <num>x<num>)"),),
        keeps=(
            "x264 codec",
            "mp3x2",
        ),
    ),
    MaskRule(
        name="number",
        pattern=rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?{_END}",
        placeholder="<num>",
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
        placeholder="<num>",
        masks=(("expected 5, got -5", "expected <num>, got <num>"),),
        keeps=(
            "gpt-4",
            "row x-5",
        ),
    ),
    MaskRule(
        name="url",
        pattern=r"[a-z][a-z0-9+]{1,15}://[\w\[/][^\s'\"<>(){}|\\^`,]*(?<![.:;!?])",
        by_parts="url",
        masks=(
            (
                "for url: https://api.example.org/v2/parts/55310?t=2031",
                "for url: https://api.example.org/v2/parts/<id>?<query>",
            ),
            ("at https://x.io/a/index-4185d9aa.js:1:84432", "at https://x.io/a/index-<hash>.js:<num>:<num>"),
            ("at https://x.io/a/index-BF3OJZ91.js:1:84991", "at https://x.io/a/index-<hash>.js:<num>:<num>"),
            ("GET http://10.0.0.5:38991/", "GET http://<ip>:<port>/"),
            ("cannot open file:///tmp/run_1/app.py.", "cannot open app.py."),
        ),
        keeps=("redis://cache:6379/main", "https://errors.example.com/v2/missing"),
    ),
    MaskRule(
        name="quoted_path",
        pattern=(r"/(?<=['\"].)(?:tmp|var/tmp|private|home|Users|root)/[^'\"\n<>|*?]*[\w~](?=['\"])"),
        by_parts="path",
        masks=(("cannot access '/home/ann/my proj/foo bar.txt'", "cannot access 'foo bar.txt'"),),
        keeps=("'/etc/app/my conf.ini'",),
    ),
    MaskRule(
        name="path",
        pattern=(r"/(?<![>./\\~%#@+-].)(?!/)[\w.@+~%#/-]*[\w/~](?:\?[\w=&%.+-]+|(?!\w|[-.@~+%#]*<|[-.@~+%#]+\w))"),
        by_parts="path",
        masks=(
            ("No such file: '/tmp/tmpk3j2h1/config.json'", "No such file: 'config.json'"),
            ("/home/bob/shop/src/app.py:40: boom", "src/app.py:<num>: boom"),
            ("/workspace/src/app.py:40: boom", "src/app.py:<num>: boom"),
            ("/home/ann/shop/node_modules/a/b.js: boom", "node_modules/a/b.js: boom"),
            ("denied: '/var/lib/app-65ee/state.db'", "denied: '/var/lib/app-<id>/state.db'"),
            ("with url: /v1/items/55310?t=2031", "with url: /v1/items/<id>?<query>"),
        ),
        keeps=("denied: '/etc/shop/shop.conf'", "Cannot GET /api/users", "and/or", "/usr/lib/python3.11/json"),
    ),
    MaskRule(
        name="here",
        pattern=r"\.(?<![\w./\\-].)/(?=[\w-]{1,64}[./]\w)",
        by_parts="here",
        masks=(("./src/app.py:40: boom", "src/app.py:<num>: boom"),),
        keeps=("Could not resolve './Foo'", "../src/app.py"),
    ),
    MaskRule(
        name="home_path",
        pattern=r"~(?<![-.@~+/%#].)/[\w.@+~%#/-]*[\w/~]",
        by_parts="path",
        masks=(("no ~/.config/app/settings.toml", "no settings.toml"),),
        keeps=("~user",),
    ),
    MaskRule(
        name="windows_path",
        pattern=r"[A-Za-z](?<![^\s'\"(=].):[\\/][^\s'\":<>|?*,;()\[\]{}]*[\w~]",
        by_parts="path",
        masks=((r"C:\Users\ann\proj\app.py:12: boom", "app.py:<num>: boom"),),
        keeps=(r"cannot open D:\data\orders.csv",),
    ),
    MaskRule(
        name="literal",
        pattern=(
            r"['\"](?:(?<=[a-z0]: .)"
            + _build_lookbehind(
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
                " value: ",
                "data remains: ",
            )
            + r"|(?<=[a-z=] .)"
            + _build_lookbehind("Duplicate entry ", "parsing ", "time data ", "assert ", " == ", " != ")
            + rf"){_REST_OF_QUOTED}"
        ),
        placeholder="<value>",
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
        placeholder="<value>",
        masks=(
            ("'blurple' is not a valid Color", "<value> is not a valid Color"),
            ("'abc' is not of type 'integer'", "<value> is not of type 'integer'"),
        ),
        keeps=("name 'np' is not defined", "'np' is not a dev command", "pathspec 'x' did not match any file"),
    ),
    MaskRule(
        name="reported_value",
        pattern=r"i(?<= .)nput_value=(?:(?!, input_type=|input_value=)[^\n])*(?=, input_type=)",
        placeholder="input_value=<value>",
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
        by_parts="command",
        masks=(
            (
                "Command '['bash', '-c', 'nosuchprog --x wkdtrp']' returned non-zero exit status 127.",
                "Command 'nosuchprog' returned non-zero exit status 127.",
            ),
            ("Command 'dev push origin x7' timed out after 5 seconds", "Command 'dev push' timed out after <duration>"),
            ("Command '$X' died with <Signals.SIGKILL: 9>.", "Command '<value>' died with <Signals.SIGKILL: <num>>."),
        ),
        keeps=("Command 'dev push' was refused",),
    ),
    MaskRule(
        name="row",
        pattern=r"K(?<![^\s'\"(].)ey \([^()\n]{1,200}\)=\([^()\n]*\)",
        by_parts="row",
        masks=(("Key (email)=(ann) already exists.", "Key (email)=(<value>) already exists."),),
        keeps=("Key (email) is not present in the table",),
    ),
    MaskRule(
        name="failing_row",
        pattern=r"F(?<![^\s'\"(].)ailing row contains \([^\n]*\)",
        placeholder="Failing row contains (<value>)",
        masks=(("Failing row contains (1, ada, -20.00).", "Failing row contains (<value>)."),),
        keeps=("Failing row contains nothing",),
    ),
    MaskRule(
        name="duplicate_key",
        pattern=r"d(?<= .)up key: \{[^{}\n]*\}",
        placeholder="dup key: {<value>}",
        masks=(('index: mail_1 dup key: { mail: "ann" }', "index: mail_1 dup key: {<value>}"),),
        keeps=("no dup key: none",),
    ),
    MaskRule(
        name="email",
        pattern=r"(?<!_)(?<!g(?=it@))[\w.+-]{0,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,12}(?![\w@:-])",
        placeholder="<email>",
        masks=(("no account for ann@mail.example.com", "no account for <email>"),),
        keeps=("git@github.com:acme/app.git", "app@1.4.0"),
    ),
    # Last, since their patterns take in whole names.
    MaskRule(
        name="digits_first",
        pattern=rf"[0-9]\w*(?:{JOINERS}\w+)*{_END_OF_ID}",
        by_parts="name",
        masks=(
            ("No such container: 4f5e6d7c8b9a", "No such container: <id>"),
            ("3344.py failed", "<id>.py failed"),
        ),
        keeps=("pluto 7b-instruct",),
    ),
    MaskRule(
        name="times",
        pattern=r"(?<=\(x)[0-9]{1,9}(?=[ )])",
        placeholder="x<num>",
        masks=(("BackOff (x39 over 2m)", "BackOff (x<num> over <duration>)"),),
        keeps=("x264",),
    ),
    MaskRule(
        name="log_stamp",
        pattern=r"(?<=[IWEF])[0-9]{4} {1,2}[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?!\w)",
        placeholder="<time>",
        masks=(("E1123 10:00:01.123456 boom", "<time> boom"),),
        keeps=("F1123 of them",),
    ),
    # Names that platforms make, known by what stands around them; `names` knows others by their form.
    MaskRule(
        name="dag_run",
        pattern=r"(?<![^\W_].)(?:anual|cheduled|ackfill|ataset_triggered|sset_triggered)__[0-9][0-9T:.+-]{9,40}",
        placeholder="<id>",
        masks=(
            ("dag run manual__2024-01-05T10:11:12+00:00 failed", "dag run <id> failed"),
            ("run_id=scheduled__2024-02-05T00:00:00+00:00", "run_id=<id>"),
        ),
        keeps=("no option manual__start", "no task scheduled__2"),
    ),
    MaskRule(
        name="test_worker",
        pattern=r"(?:(?<=[\['\"]g)w|(?<=\[r)ank)[0-9]{1,4}(?=[\]'\"])",
        placeholder="<id>",
        masks=(("[gw0] node down", "[<id>] node down"), ("worker 'gw13' crashed", "worker '<id>' crashed")),
        keeps=("host gw1 is down", "no column 'rank2'", "[bm25] failed"),
    ),
    MaskRule(
        name="gateway_object",
        pattern=r"(?:(?<=calling o)[0-9]{1,6}(?=\.[a-z])|(?<= on o)[0-9]{2,6}(?![\w-]))",
        placeholder="<id>",
        masks=(
            ("An error occurred while calling o181.select.", "An error occurred while calling <id>.select."),
            ("Method foo does not exist on o181", "Method foo does not exist on <id>"),
        ),
        keeps=("no access on o1", "calling o3-mini failed", "encoding o200k_base"),
    ),
    MaskRule(
        name="compiled_name",
        pattern=r"(?<=\$[A-Za-z])(?:val|roxy|ine|n__|ambda|nonfun)[0-9]{1,9}(?![^\W_])",
        placeholder="<id>",
        masks=(
            ("class com.sun.proxy.$Proxy12", "class com.sun.proxy.$<id>"),
            ("in user$eval123$fn__124", "in user$<id>$<id>"),
        ),
        keeps=("variable $line_2", "class Proxy12", "class Cart$Item2"),
    ),
    MaskRule(
        name="sample_value",
        pattern=r"(?<=[=]['\"][a-z])(?:tr(?:ing)?|al(?:ue)?|lem|oo|ummy|ample|ser|ame|ey)[0-9]{1,6}(?=['\"])",
        placeholder="<value>",
        masks=(("bad value key1='str0'", "bad value key1='<value>'"), ("got name='user17'", "got name='<value>'")),
        keeps=("dtype='float32'", "codec='utf8'", "axis='x1'", "KeyError: 'key1'", "arch='sm80'"),
    ),
    MaskRule(
        name="name",
        pattern=rf"(?=[A-Za-z_./~+%#-]{{0,64}}[0-9@])\w*(?:{JOINERS}\w+)*{_END_OF_ID}",
        by_parts="name",
        masks=(
            ("'request_id': 'req_7f3a9b1c2d'", "'request_id': '<id>'"),
            ("No such customer: 'cus_NffrFeUfNV2Hib'", "No such customer: 'cus_<id>'"),
            ("in 'tmpzz81qa/config.json'", "in '<tmp>/config.json'"),
            ("items.0.qty: Field required", "items.<index>.qty: Field required"),
            ('pods "web-6d4cf56db6-x2x7z" not found', 'pods "web-<id>" not found'),
            ("Task-42 was destroyed", "Task-<id> was destroyed"),
            ("gpu-17: out of memory", "gpu-<id>: out of memory"),
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
    MaskRule(
        name="letters",
        pattern=(
            r"[A-Za-z_-](?=[A-Za-z0-9_-]{15})(?<![\w.@~%#+/-].)(?=[a-z0-9_-]{0,20}[A-Z])"
            r"(?![\w-]*['\"]?[ :=#(\[,]{1,3}['\"]?-?[v0-9])[\w-]*(?:={1,2}(?![\w=]))?"
        ),
        by_parts="name",
        masks=(("no such key: kVqZtRwXbNpLsDfGhJ", "no such key: <id>"),),
        keeps=("XMLHttpRequestUpload", "--no-progress-for-this"),
    ),
    MaskRule(
        name="build_folder",
        pattern=r"D(?<!\w.)erivedData/[\w./+-]*\w",
        by_parts="name",
        masks=(("no DerivedData/Shop-bqzlcahcsjoyhvfddxkqosrdqykb/Build", "no DerivedData/Shop-<id>/Build"),),
        keeps=("no DerivedData/ModuleCache.noindex", "no DerivedData/Shop-Internationalization/Build"),
    ),
    MaskRule(
        name="pet_name",
        pattern=(
            r"[a-z](?:(?<=low run .)|(?<=low run ['\"].))[a-z]{1,15}-[a-z]{2,15}(?:-[a-z]{2,15})?"
            r"(?![\w-])"
        ),
        placeholder="<id>",
        masks=(
            ("Flow run 'wondrous-beagle' failed", "Flow run '<id>' failed"),
            ("flow run hip-mammoth failed", "flow run <id> failed"),
        ),
        keeps=("no service auth-gateway", "no server wondrous-beagle", "dry run of auth-gateway"),
    ),
)
