"""
Find secrets by the name in front of them.

That is `password=...`, `--token ...`, `<apiKey>...`, `"secret", "..."` and the like.

A text is searched for stems of names as strings, at the speed of C; only where one stands do patterns look further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.redaction.found import MARK, Found
from otel_errcompact.redaction.names import MAX_NAME, PARTICLES, kind_of_name
from otel_errcompact.redaction.values import MIN_ISSUED, MIN_MIXED, UUID, is_measure, is_mixed, is_random, is_secret
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

_REST_OF_NAME: Final = lazy_pattern(rf"(?:[^\W{PARTICLES}]|-|\.(?=\w)){{0,{MAX_NAME}}}")

_SEPARATOR: Final = lazy_pattern(
    # JSON, YAML, TOML, INI, shells, code with or without a type, logs, headers
    r"(?P<assigned>['\"`*%]{0,3}[\])}]{0,2}(?:[ \t]?\.{3,40})?[ \t]{0,40}"
    r"(?:\??:[ ]?&?(?:'\w{1,10} )?[A-Za-z_.\[\]]{1,40}(?:[ ]?\|[ ]?[A-Za-z_.\[\]]{1,40}){0,3}[ ]?=(?=[ '\"`])"
    rf"|:=|#?=>|->|\?=|::=|\|\||={{1,3}}(?:[ ](?:\"\"|null)[ ]->)?|::?|(?<![A-Za-z])[{PARTICLES}])"
    r"\*{0,2}(?P<blank>[ \t]{0,40}(?:(?:[|>][+-]?)?\n[ \t]{1,40})?))"
    # a pair of a name and a value: HAR, Kubernetes, XML
    r"|(?P<pair>['\"]?[ \t]{0,3}[,;]?\s{0,40}(?:['\"]\w{1,20}['\"][:=][ ]?['\"]?[\w./-]{0,40}['\"]?,\s{0,40}){0,2}"
    r"(?:(?<=\n[ ]{2})[^\n]{1,99}[ ])?['\"]?(?i:\w{0,20}value\b)['\"]?[ \t]{0,3}[:=][ \t]{0,3})"
    # an element of a property list, a part of a form
    r"|(?P<below></\w{1,20}>\s{0,40}<\w{1,20}>|\"(?:;[^\n]{0,80})?\r?\n(?:[\w-]{1,40}:[^\n]{0,80}\r?\n){0,3}\r?\n)"
    # the next item of a list of names and values
    r"|(?P<item>['\"]?[ \t]{0,3},\s{0,40}(?=(?:<<)?[burBUR]{0,2}['\"]))"
    # an argument of a call: setPassword("..."), and what a sentence puts in brackets
    r"|(?P<call>(?:[ \t]?[(<]|\[)(?=[^\s)\]>]))"
    # a table or a list of names and values
    r"|(?P<cell>[ \t]{0,60}\|[ \t]{0,60}(?=[^\s|][^|\n]{0,400}\|?[ \t]{0,9}(?:\r?\n|\Z)))"
    # an element of XML
    r"|(?P<element>(?:['\"]?(?:[ \t][^<>\n]{0,200})?)>\s{0,40}(?=[^<\s]))"
    # an option of a command, a line of netrc, prose
    r"|(?P<apart>(?:[ \t](?:for|of|to|on|per|f\u00fcr)(?:[ \t]['\"]?[\w.@-]{1,60}['\"]?){1,4}"
    r"(?=:|[ \t]=|[ \t](?:is|was|to|set|has|changed|reset|lautet)\b))?"
    r"(?:['\"`*]{1,3}(?=[ \t](?:is|was|set|to|has|value|changed|from)\b|[ \t]`)|(?:\*{2}|[\])]{1,2})(?=[ \t])"
    r"|[ \t]?\.{4,40}|[ \t][\u2013\u2014\u00bb-]|[:,])?[ \t]{1,40}"
    r"(?:(?:is|was|has|been|now|es|ist|est|lautet|er|on|\u00e9|\u00e8|\u00e4r|=|nueva|neue|got|set|reset|of|as|to|from"
    r"|changed|contains|equals|value|used|provided|supplied|given|sent|instead|below)(?::|[ \t]){1,3}){0,4})"
    # what a prompt answers, the next line of a list
    r"|(?P<answer>['\"\])]{0,3}[\w./-]{0,40}\r?\n[ \t]{0,40}"
    r"(?:-[ \t]{1,9}|=> |\$[0-9]{1,3} = |\[1\] )?(?![\s-]|\S{0,400}[:=]\w))"
)
_VALUE: Final = lazy_pattern(
    r"(?:(?:[A-Z][A-Za-z]{0,40}|str|bytes|repr)?[(\[{]\s{0,40}(?=[burBUR]{0,2}['\"`])|<<(?=\")"
    r"|(?:string\([0-9]{1,6}\)|0x[0-9a-f]{1,16})[ ](?=\"))?[burBURN@]{0,2}"
    r"(?:(?P<triple>'''|\"\"\")(?P<long>(?:[^'\"\\]|\\.|(?!(?P=triple)).){0,4096})"
    r"|(?P<quote>['\"`])(?P<quoted>(?:[^'\"`\\\n]|\\.|(?!(?P=quote))['\"`]){0,1024})(?P=quote)?)"
)
_BARE: Final = lazy_pattern(
    r"(?:[^\s'\"`<>&;,(){}\[\]|\\]"
    r"|[&;,|](?![\s'\"]|$|[\w.\[\]-]{1,40}[=:])"
    r"|[(\[{<>\\](?=[^\s'\"`;,])"
    r"|(?<=\w)['\"](?=\w{2})"
    r"|[)\]}](?=[\w@#$%!?*+^~-])){1,256}"
)
_CHANGED: Final = lazy_pattern(r"\"[ ]->[ ]\"(?P<new>(?:[^\"\\\n]|\\.){4,1024})\"")
"""What a value that was found is changed to."""

MAX_BARE: Final = 256
"""Characters of a value without quotes for which all forms are looked at; what follows is read in one go."""


_MORE: Final = lazy_pattern(r"[^\s'\"`<>&;,(){}\[\]|\\]*")
_SCHEME: Final = lazy_pattern(r"(?i:bearer|basic|token|apikey|api-key|negotiate|key|splunk|ntlm|bot)[ \t]{1,3}")
_PARTS: Final = lazy_pattern(r"(?:[A-Za-z]{1,20}[ \t])?[\w.-]{1,80}=(?![\s=,;)\]}'\"])[^\n'\"]{1,1024}")


def find_assigned(text: str, lower: str, stems: Iterable[str]) -> Iterator[Found]:
    """
    Yield secrets that a name in front of them tells.

    Args:
        text: The text.
        lower: The same text in lower case, of equal length.
        stems: The stems of names that stand in it.
    """
    for stem in stems:
        at = lower.find(stem)
        while at >= 0:
            end = _REST_OF_NAME.match(text, at + len(stem)).end()  # type: ignore[union-attr]
            start = _find_start(text, at)
            # Most words that hold a stem name no secret: what stands around them is not read.
            kind = kind_of_name(text[start:end]) or _kind_of_two_words(text, start, text[start:end])
            separator = _SEPARATOR.match(text, end) if kind else None
            found = None if separator is None else _read_assignment(text, start, end, kind, separator)
            if found is not None:
                yield found
                end = found.end
                yield from (Found(*new.span("new"), found.kind) for new in [_CHANGED.match(text, end)] if new)
            elif kind and (" " in text[max(0, start - 2) : start] or text[start - 1 : start] == "("):
                yield from _read_ahead(text, start, kind)
            at = lower.find(stem, max(end, at + len(stem)))


def _find_start(text: str, at: int) -> int:
    first = max(0, at - MAX_NAME)
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at -= 1
    return at


def _read_assignment(text: str, start: int, end: int, kind: str, separator: re.Match[str]) -> Found | None:
    name, syntax, at = text[start:end], separator.lastgroup or "", separator.end()
    if (
        (text.endswith(MARK, 0, start) and text[end : end + 1] == "]")
        or text.endswith("://", 0, start)  # a user in an address
        or (_GLUED.fullmatch(name) and text[end] in ": " and "=" not in separator[0])
        or (name == "passwd" and text.endswith("/", 0, start))  # the file of accounts, or the program
        or (text.endswith("${", 0, start) and text.startswith("?", at))  # what a shell complains of
        or (text[end] in " )" and ("\n" in separator[0] or separator[0].lstrip() == ":"))  # code, a symbol of Ruby
        or (name == "key" and syntax == "apart" and _KEY_ID.match(text, at) is not None)
        or (syntax == "answer" and not _is_answer(text, start, at))
        or (kind == "session" and syntax == "apart" and _ID.match(text, at) is not None)
        or (_BEGINS.search(text, max(0, start - _MAX_BEGINNING), start) and _SENTENCE.match(text, at))
        or (syntax == "element" and not _TAG.search(text, max(0, start - _MAX_BEGINNING), start))
        or (syntax == "cell" and not _FIRST_CELL.search(text, max(0, start - _MAX_BEGINNING), start))
    ):
        return None
    if kind in {"cookie", "authorization"}:
        return _read_header(text, at, kind) if syntax != "apart" else None
    is_variable = "_" in name and name.isupper()
    said = is_variable or _IS.search(separator[0]) or _WITH.search(text, max(0, start - MAX_BETWEEN), start)
    if syntax in {"apart", "item"} and name.lower() == "pass" and (not said or " to" in separator[0]):
        return None
    quoted = _VALUE.match(text, at)
    loose = (not name.startswith("-") or bool(_IS.search(separator[0]))) and (
        syntax in _LOOSE or _is_common(text, start, name, separator, quoted)
    )
    if quoted is None:
        is_code = syntax == "assigned" and "\n" in separator[0] and not _ALONE.match(text, at)
        return (
            _read_in_quotes(text, start, at, kind)
            or (_read_words(text, start, at, kind) or _read_strong(text, at, kind) if not loose else None)
            or (
                _read_bare(text, at, kind, loose=loose, said=bool(said), in_tags=syntax in _TAGS)
                if not is_code
                else None
            )
        )
    group = "long" if quoted["triple"] else "quoted"
    good = (
        is_secret(quoted[group], kind, quoted=quoted["quote"] != "`")
        and quoted[group][0] != " "
        and not text.startswith(":", quoted.end())
        and (
            not loose
            or (syntax == "item" and is_variable and is_secret(quoted[group], kind, quoted=False))
            or _stands_out(quoted[group], kind, syntax)
            or (kind == "password" and bool(said) and _WORDS.fullmatch(quoted[group]) is not None)
        )
    )
    return Found(*quoted.span(group), _SAID.get(kind, kind)) if good else None


_LOOSE: Final = frozenset({"answer", "apart", "call", "cell", "item"})
"""Where no sign stands between them, name and value are mostly two words of a sentence or two items of a list."""


def _is_common(text: str, start: int, name: str, separator: re.Match[str], quoted: re.Match[str] | None) -> bool:
    # "first pass: optimize12", "PASS: TestX400", "pwd project42", "pass=28"; but "pass=..." and a line of YAML.
    word = name.lower()
    if word not in _AMBIGUOUS:
        return word in _ISSUED_WORDS
    is_count = _COUNT.match(text, separator.end()) is not None
    if quoted is not None or ("=" in separator[0] and not is_count):
        return False
    return is_count or word == "pwd" or name.isupper() or text[max(0, start - 2) : start - 1].isalpha()


_AMBIGUOUS: Final = frozenset({"pass", "pw", "pwd"})
"""Words of the names of passwords that are also words of test runs and of shells."""

_COUNT: Final = lazy_pattern(r"[0-9]{1,4}(?:[./%]\w{0,4}|[a-z]{1,3})?(?!\w)")


_FIRST_CELL: Final = lazy_pattern(r"(?:^|\n)[ \t|]{0,9}\Z")
"""How the first cell of a row begins."""

_WITH: Final = lazy_pattern(
    r"\b(?:with|using|use|used|try|tried|set|new|old|temp|temporary|initial|user(?:name)? \S{1,40},?)(?: (?:the|a))? \Z"
)
"""Words in front of the name behind which even a word with a number is a password."""

_ISSUED_WORDS: Final = frozenset({"pin", "auth", "sig", "signature", "key", "token"})
"""Names that are words of many other texts: what stands behind one must look like a secret."""


def _read_ahead(text: str, start: int, kind: str) -> Iterator[Found]:
    # "... as the password", "invalid value '...' for '--token'"
    between = _BETWEEN.search(text, max(0, start - MAX_BETWEEN), start)
    if between is None:
        return
    value = _VALUE_AHEAD.search(text, max(0, between.start() - MAX_AHEAD), between.start())
    if value is None:
        return
    quoted, content = value["quote"] is not None, value["quoted"] or value[0]
    if (
        is_secret(content, kind, quoted=quoted)
        and not is_measure(content)
        and not UUID.fullmatch(content)
        and (_stands_out(content, kind, "apart") if quoted else (between["as"] or between["in"]) and is_random(content))
    ):
        yield Found(*value.span("quoted" if quoted else 0), _SAID.get(kind, kind))


_BETWEEN: Final = lazy_pattern(
    r" (?:(?P<as>as|is|was)|for)(?: (?!as|is|for)(?:[a-z]{1,12}|API)){0,4} ['\"`]?\Z| (?P<in>\()(?:the |API )?\Z"
)
_VALUE_AHEAD: Final = lazy_pattern(
    r"(?P<quote>['\"`])(?P<quoted>[^'\"`\n]{4,256})(?P=quote)\Z|(?<!\S)[^\s'\"`]{4,256}\Z"
)
MAX_BETWEEN: Final = 40
"""Characters between a value and the name behind it."""

MAX_AHEAD: Final = 260
"""Characters of what stands in front of a name."""


_GLUED: Final = lazy_pattern("[0-9]+[A-Za-z][a-z]+")
"""A word with a digit glued to its front is a name of its own, as 1Password is."""

_ID: Final = lazy_pattern(r"[`'\"*]{0,3}(?:[0-9a-f]{8,64}\b|\w{1,20}_id=)")
"""What prose calls a session by."""

_TAG: Final = lazy_pattern(r"(?:[<:]|(?:key|name)=['\"])\Z")
"""Where the name of an element of XML begins."""

_KEY_ID: Final = lazy_pattern(r"(?:0x)?[0-9A-F]{8,40}\b")
"""What a program for keys calls one by."""

_MAX_BEGINNING: Final = 16
_BEGINS: Final = lazy_pattern(r"(?:^|\n)[ \t]{0,8}(?:(?i:error|fatal): )?\Z")
_SENTENCE: Final = lazy_pattern(
    r"[A-Za-z]{2,20} (?!(?:is|was|has|does|did|must|for|of)\b)[a-z]{2,20}(?: [a-z]{1,20}){1,9}"
    r" (?:errors?|failures?|failed|denied|refused)[.!]?[ \t]*(?:\r?\n|\Z)"
)
"""Behind a name that begins a statement: what its program complains of."""


def _read_in_quotes(text: str, start: int, at: int, kind: str) -> Found | None:
    # 'PASSPHRASE=four words', an item of a list or an argument: the value ends where the quotes do.
    opened = text[start - 1 : start]
    if opened not in {"'", '"'} or not start or text[at - 1] != "=":
        return None
    value = _REST[opened].match(text, at)
    if value is None or _ASSIGNMENT.search(value[0]) or not is_secret(value[0], kind, quoted=True):
        return None
    return Found(*value.span(), _SAID.get(kind, kind))


_REST: Final = {
    "'": lazy_pattern(r"(?:[^'\\\n]|\\.){1,1024}(?=')"),
    '"': lazy_pattern(r'(?:[^"\\\n]|\\.){1,1024}(?=")'),
}
_ASSIGNMENT: Final = lazy_pattern(r"[\s;&,][\w.-]{1,40}=")


def _read_words(text: str, start: int, at: int, kind: str) -> Found | None:
    # In a command a blank ends the value.
    is_ended = text[at - 1] == "=" and text[start - 1 : start] == " "
    words = _WORDS.match(text, at) if kind == "password" and not is_ended and not _FLOWING.match(text, at) else None
    return Found(*words.span(), kind) if words is not None and is_secret(words[0], kind, quoted=False) else None


_WORDS: Final = lazy_pattern(
    r"[A-Za-z]{2,16}(?: [A-Za-z]{2,16}){2,11}(?=[ \t]*(?:\x1b|\^\[|\\[nrt]|\r?\n|$|[<;&|'\"]|,? [\w.-]{1,40}[=:]))"
)
"""What a passphrase is made of, up to the end of its line, its element or its part of the line."""


def _read_strong(text: str, at: int, kind: str) -> Found | None:
    strong = _STRONG.match(text, at) if kind == "password" else None
    return Found(*strong.span(), kind) if strong is not None and "://" not in strong[0] else None


_STRONG: Final = lazy_pattern(
    r"(?=\S{0,63}[a-z])(?=\S{0,63}[A-Z])(?=\S{0,63}[0-9])(?=(?:\S{0,63}?[^\w\s'\"]){4})"
    r"(?:(?![&;,][\w.-]{1,40}=)[^\s'\"`]){12,64}(?=[ \t]*(?:\x1b|\r?\n|$))"
)
"""What a generator of passwords makes, up to the end of its line: its signs end no value."""


_TAGS: Final = frozenset({"below", "element"})
_IS: Final = lazy_pattern(r"\b(?:is|was|now|to|from|value|es|ist|est|lautet|er|on)\b|[\u00e9\u00e8\u00e4]")
"""What makes a sentence say a password: "the password is 206833"."""


def _read_bare(text: str, at: int, kind: str, *, loose: bool, said: bool, in_tags: bool) -> Found | None:
    bare = _BARE.match(text, at)
    if bare is not None and _CLOSING.get(bare[0][0], "\0") in text[at : bare.end() + 1]:
        at, loose = at + 1, text[at - 1] not in "{="
        bare = _BARE.match(text, at)
    # In a text of JSON, "\\n" is the end of a line.
    content = (
        bare[0].partition("\\n")[0].rstrip(".,:;?)" if kind == "password" else ".,:;!?)") if bare is not None else ""
    )
    if in_tags:
        content = content.partition("<")[0]
    end = at + len(content)
    if text[at - 1] != "=" and _FLOWING.match(text, at) and not _IS.search(text, max(0, at - _MAX_BEGINNING), at):
        return None
    if content.startswith("--") or text[end : end + 1] == "(" or not is_secret(content, kind, quoted=False):
        return None
    if loose and not (
        len(content) >= _MIN_LOOSE[kind == "password"]
        and (content.isdigit() or not is_measure(content))
        and not _PART.match(content)
        and (is_random(content) or (said and _is_mixed(content, kind)) or _is_refused(text, end, content, kind))
    ):
        return None
    if len(content) == MAX_BARE:
        end = cast("re.Match[str]", _MORE.match(text, end)).end()  # matches nothing, too
    return Found(at, end, _SAID.get(kind, kind))


_FLOWING: Final = lazy_pattern(
    r"[A-Za-z]{2,20} (?:an?|the|to|be|with|for|in|on|at|of|by|not|is|are|it|from|this|that|after|before|because)\b"
    r"|[A-Z_]{2,40}(?![\w-])"
)
"""A sentence that flows on, and what a manual writes for a value."""

_PROMPT: Final = lazy_pattern(
    r"(?:\A|\n)(?:[$>#%]|>>>|\(\w{1,9}\)|irb[^\n>]{0,40}>|In \[[0-9]{1,4}\]:|-{1,2}\w) ?[^\n]{0,200}\Z"
)
_ALONE: Final = lazy_pattern(r"\S{4,4096}[ \t]{0,9}(?:\r?\n|\Z)")


def _is_answer(text: str, start: int, at: int) -> bool:
    # What a prompt was asked for stands alone on the next line; so does the value of an option in a list.
    return _ALONE.match(text, at) is not None and (
        text.startswith("-", start) or _PROMPT.search(text, max(0, start - MAX_AHEAD), start) is not None
    )


_PART: Final = lazy_pattern(r"[A-Za-z_]{1,20}[=:]")
"""What is a pair of its own: "ttl=467"."""

_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_SAID: Final = {"key": "secret"}
"""What kinds are called that only their judges tell from another."""


def _is_refused(text: str, end: int, content: str, kind: str) -> bool:
    return kind == "password" and is_mixed(content) and _REFUSED.match(text, end) is not None


_REFUSED: Final = lazy_pattern(r" (?:(?:was|is) )?(?:refused|rejected|denied|wrong|incorrect|invalid)\b")
"""What a sentence says of a password."""


def _is_mixed(content: str, kind: str) -> bool:
    return kind == "password" and (content.isdigit() or _SIGNS.search(content) is not None)


_SIGNS: Final = lazy_pattern(r"(?=.*[A-Za-z])(?=.*[0-9])|[A-Za-z]{2}[-_][a-z]{2,12}[-_][a-z]{2}|[a-z][A-Z][a-z]+[A-Z]")
"""Words joined, or letters and digits with signs among them."""

_MIN_LOOSE: Final = {True: 4, False: 12}
"""Characters of a word that stands out behind the name of a password, and of another secret."""


def _stands_out(content: str, kind: str, syntax: str) -> bool:
    if kind == "password" and syntax == "apart":
        return " " not in content and len(content) >= MIN_MIXED
    return is_random(content) and len(content) >= (MIN_MIXED if kind == "password" else MIN_ISSUED)


def _kind_of_two_words(text: str, start: int, name: str) -> str:
    # "API key": the word in front says what the key opens.
    if name.lower() != "key" or not start or text[start - 1] != " ":
        return ""
    before = " ".join(text[max(0, start - 21) : start - 1].split()).rpartition(" ")[2].lstrip("*_`'\"(")
    return kind_of_name(f"{before}_key") if before.isalpha() else ""


def _read_header(text: str, at: int, kind: str) -> Found | None:
    opened = _VALUE.match(text, at)
    if opened is not None and opened["quote"]:
        at = opened.start("quoted")
    scheme = _SCHEME.match(text, at)
    at = scheme.end() if scheme is not None else at
    # "Digest username=..., response=..." and cookies have many parts.
    rest = _PARTS.match(text, at) or _BARE.match(text, at)
    value = rest[0].rstrip(".,;)") if rest is not None else ""
    if len(value) < MIN_MIXED or not _IN_HEADERS[kind].search(value) or value.startswith("$"):
        return None
    return Found(at, at + len(value), kind)


_IN_HEADERS: Final = {"cookie": lazy_pattern("="), "authorization": lazy_pattern("[0-9=+/.]")}
"""What the value of a header holds and a word of a sentence does not."""
