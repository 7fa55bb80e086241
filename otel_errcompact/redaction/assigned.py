"""
Find secrets by the name in front of them.

That is `password=...`, `--token ...`, `<apiKey>...`, `"secret", "..."` and the like.

A text is searched for stems of names as strings, at the speed of C; only where one stands do patterns look further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.redaction.found import MARK, Found
from otel_errcompact.redaction.names import MAX_NAME, STEMS, kind_of_name
from otel_errcompact.redaction.values import MIN_ISSUED, MIN_MIXED, is_random, is_secret
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_REST_OF_NAME: Final = lazy_pattern(rf"(?:[\w-]|\.(?=\w)){{0,{MAX_NAME}}}")

_SEPARATOR: Final = lazy_pattern(
    # JSON, YAML, TOML, INI, shells, code with or without a type, logs, headers
    r"(?P<assigned>['\"`]?[\])]{0,2}[ \t]{0,40}"
    r"(?:\??:[ ]?&?(?:'\w{1,10} )?[A-Za-z_.\[\]]{1,40}(?:[ ]?\|[ ]?[A-Za-z_.\[\]]{1,40}){0,3}[ ]?=(?=[ '\"`])"
    r"|:=|=>|->|\?=|::=|\|\||={1,3}|::?)"
    r"(?P<blank>[ \t]{0,40}(?:(?:[|>][+-]?)?\n[ \t]{1,40})?))"
    # a pair of a name and a value: HAR, Kubernetes, XML
    r"|(?P<pair>['\"]?[ \t]{0,3}[,;]?\s{0,40}['\"]?(?i:value)['\"]?[ \t]{0,3}[:=][ \t]{0,3})"
    # an element of a property list, a part of a form
    r"|(?P<below></\w{1,20}>\s{0,40}<\w{1,20}>|\"(?:;[^\n]{0,80})?\r?\n(?:[\w-]{1,40}:[^\n]{0,80}\r?\n){0,3}\r?\n)"
    # the next item of a list of names and values
    r"|(?P<item>['\"]?[ \t]{0,3},\s{0,40}(?=(?:<<)?[burBUR]{0,2}['\"]))"
    # an argument of a call: setPassword("...")
    r"|(?P<call>\((?=[burBUR]{0,2}['\"`]))"
    # an element of XML
    r"|(?P<element>(?:[ \t][^<>\n]{0,200})?>\s{0,40}(?=[^<\s]))"
    # an option of a command, a line of netrc, prose
    r"|(?P<apart>[ \t]{1,40}(?:(?:is|was|set|of|as|to|value|used|provided|supplied|given|sent|instead|below)"
    r"(?::|[ \t]){1,3}){0,3})"
)
_VALUE: Final = lazy_pattern(
    r"(?:(?:[A-Z][A-Za-z]{0,40}|str|bytes|repr)?[(\[{][ \t]?(?=[burBUR]{0,2}['\"`])|<<(?=\"))?[burBUR@]{0,2}"
    r"(?:(?P<triple>'''|\"\"\")(?P<long>(?:[^'\"\\]|\\.|(?!(?P=triple)).){0,4096})"
    r"|(?P<quote>['\"`])(?P<quoted>(?:[^'\"`\\\n]|\\.|(?!(?P=quote))['\"`]){0,1024})(?P=quote)?)"
)
_BARE: Final = lazy_pattern(
    r"(?:[^\s'\"`<>&;,(){}\[\]|\\]"
    r"|[&;,](?![\s'\"]|$|[\w.\[\]-]{1,40}[=:])"
    r"|[(\[{<>|\\](?=[^\s'\"`;,])"
    r"|(?<=\w)['\"](?=\w{2})"
    r"|[)\]}](?=[\w@#$%!?*+^~-])){1,256}"
)
MAX_BARE: Final = 256
"""Characters of a value without quotes for which all forms are looked at; what follows is read in one go."""


_MORE: Final = lazy_pattern(r"[^\s'\"`<>&;,(){}\[\]|\\]*")
_SCHEME: Final = lazy_pattern(r"(?i:bearer|basic|token|apikey|api-key|negotiate|key|splunk|ntlm|bot)[ \t]{1,3}")
_PARTS: Final = lazy_pattern(r"(?:[A-Za-z]{1,20}[ \t])?[\w.-]{1,80}=[^\n'\"]{1,1024}")


def find_assigned(text: str, lower: str) -> Iterator[Found]:
    """
    Yield secrets that a name in front of them tells.

    Args:
        text: The text.
        lower: The same text in lower case, of equal length.
    """
    for stem in STEMS:
        at = lower.find(stem)
        while at >= 0:
            end = _REST_OF_NAME.match(text, at + len(stem)).end()  # type: ignore[union-attr]
            separator = _SEPARATOR.match(text, end)
            if separator is not None:
                found = _read_assignment(text, _find_start(text, at), end, separator)
                if found is not None:
                    yield found
                    end = found.end
            at = lower.find(stem, max(end, at + len(stem)))


def _find_start(text: str, at: int) -> int:
    first = max(0, at - MAX_NAME)
    while at > first and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at -= 1
    return at


def _read_assignment(text: str, start: int, end: int, separator: re.Match[str]) -> Found | None:
    name, syntax, at = text[start:end], separator.lastgroup or "", separator.end()
    kind = kind_of_name(name) or _kind_of_two_words(text, start, name)
    if (
        not kind
        or (text.endswith(MARK, 0, start) and text[end : end + 1] == "]")
        or text.endswith("://", 0, start)  # a user in an address
        or (_GLUED.fullmatch(name) and text[end] in ": " and "=" not in separator[0])
        or (name == "passwd" and text.endswith("/", 0, start))  # the file of accounts, or the program
        or (kind == "session" and syntax == "apart" and _ID.match(text, at) is not None)
        or (_BEGINS.search(text, max(0, start - _MAX_BEGINNING), start) and _SENTENCE.match(text, at))
        or (syntax == "element" and text[start - 1 : start] not in {"<", ":"})
    ):
        return None
    if kind in {"cookie", "authorization"}:
        return _read_header(text, at, kind) if syntax != "apart" else None
    # Without a sign between them, name and value are mostly two words of a sentence or two items of a list.
    common = name.lower() in _COMMON
    if common and (syntax == "item" or (syntax == "apart" and name.lower() == "pass")):
        return None
    loose = not name.startswith("-") and (common or syntax in {"apart", "call", "item"})
    quoted = _VALUE.match(text, at)
    if quoted is None:
        return (
            _read_in_quotes(text, start, at, kind)
            or (_read_words(text, at, kind) or _read_strong(text, at, kind) if not loose else None)
            or _read_bare(text, at, kind, loose=loose, said=bool(_IS.search(separator[0])), in_tags=syntax in _TAGS)
        )
    group = "long" if quoted["triple"] else "quoted"
    good = is_secret(quoted[group], kind, quoted=quoted["quote"] != "`") and (
        not loose
        or _stands_out(quoted[group], kind, syntax)
        or (kind == "password" and bool(_IS.search(separator[0])) and _WORDS.fullmatch(quoted[group]) is not None)
    )
    return Found(*quoted.span(group), _SAID.get(kind, kind)) if good else None


_GLUED: Final = lazy_pattern("[0-9]+[A-Za-z][a-z]+")
"""A word with a digit glued to its front is a name of its own, as 1Password is."""

_ID: Final = lazy_pattern(r"[`'\"*]{0,3}(?:[0-9a-f]{8,64}\b|\w{1,20}_id=)")
"""What prose calls a session by."""

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


def _read_words(text: str, at: int, kind: str) -> Found | None:
    words = _WORDS.match(text, at) if kind == "password" else None
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
_IS: Final = lazy_pattern(r"\b(?:is|was)\b")
"""What makes a sentence say a password: "the password is 206833"."""


def _read_bare(text: str, at: int, kind: str, *, loose: bool, said: bool, in_tags: bool) -> Found | None:
    bare = _BARE.match(text, at)
    # In a text of JSON, "\\n" is the end of a line.
    content = bare[0].partition("\\n")[0].rstrip(".,:;!?)") if bare is not None else ""
    if in_tags:
        content = content.partition("<")[0]
    end = at + len(content)
    if content.startswith("--") or text[end : end + 1] == "(" or not is_secret(content, kind, quoted=False):
        return None
    if loose and not (
        len(content) >= _MIN_LOOSE[kind == "password"] and (is_random(content) or (said and _is_mixed(content, kind)))
    ):
        return None
    if len(content) == MAX_BARE:
        end = cast("re.Match[str]", _MORE.match(text, end)).end()  # matches nothing, too
    return Found(at, end, _SAID.get(kind, kind))


_SAID: Final = {"key": "secret"}
"""What kinds are called that only their judges tell from another."""

_COMMON: Final = frozenset({"pass", "pin", "auth", "sig", "signature", "key", "token", "pw"})
"""Names that are words of many other texts: what stands behind one must look like a secret."""


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
    before = text[max(0, start - 21) : start - 1].rpartition(" ")[2]
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
