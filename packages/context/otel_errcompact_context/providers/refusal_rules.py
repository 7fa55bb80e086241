"""Rules for refusals in words that no form has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# ruff: noqa: RUF001 - some refusals are in Chinese.

LINE_CHARS: Final = 4_000
"""How much of each text the rules read; further on stands what was sent, which may talk of anything."""

MAX_SENTENCES: Final = 64
_AROUND: Final = 2
"""How many sentences before and after the one that says it may tell the numbers."""


class Ruling(NamedTuple):
    """What the rules found in a text."""

    start: int
    """Where the sentence begins that says so."""

    limit_tokens: int | None
    """The window, where the text tells it in tokens beyond doubt."""

    sent_tokens: int | None
    """What was counted, where it is told and more than the limit."""


def read_by_rules(text: str) -> Ruling | None:
    """
    Read a text as a refusal of a too long context.

    A sentence counts that compares the length of a context, prompt or input with a limit, or asks for a shorter one. It
    does not count where it speaks of the answer alone, of uploads, of tools, or of a number of messages.
    """
    start = 0
    for line in text.split("\n"):
        sentences = list(_split_sentences(line[:LINE_CHARS]))
        for index, (at, sentence) in enumerate(sentences):
            if not says_too_long(sentence):
                continue
            if _PATH.search(sentence):
                return Ruling(start + at, None, None)  # a limit in characters
            around = " ".join(one for _, one in sentences[max(0, index - _AROUND) : index + _AROUND + 1])
            if _ADVICE_ON_ANSWER.search(around) and not _INPUT.search(sentence):
                continue
            numbers = read_numbers(around)
            return None if numbers is None else Ruling(start + at, *numbers)
        start += len(line) + 1
    return None


def says_too_long(sentence: str) -> bool:
    """Tell whether one sentence says that a context is too long."""
    if _WARNING.search(sentence):
        return False
    path = _PATH.search(sentence)
    if path is not None:
        # `Invalid 'messages[17].content': string too long`: the path says whether a shorter list would help.
        return _SHORTENED_PATH.search(path[1]) is not None and _STRING_TOO_LONG.search(sentence) is not None
    words = _NO_WORDS.sub(" ", sentence)
    return not _is_of_another(words) and any(rule.search(words) for rule in _RULES)


def is_upload(text: str) -> bool:
    """Tell whether a text speaks of uploads, and of no context."""
    words = _NO_WORDS.sub(" ", text)
    return _UPLOAD.search(words) is not None and _OF_CONTEXT.search(words) is None


def _split_sentences(line: str) -> Iterator[tuple[int, str]]:
    start = 0
    for count, end in enumerate(_END.finditer(line)):
        if count == MAX_SENTENCES:
            return
        yield start, line[start : end.start()]
        start = end.end()
    yield start, line[start:]


def _is_of_another(sentence: str) -> bool:
    if _OTHERS_LIMIT.search(sentence) or is_upload(sentence):
        return True
    if _ANSWER.search(sentence) and not _INPUT.search(_ANSWER.sub(" ", sentence)):
        return True
    return _OF_CONTEXT.search(sentence) is None and _TOOLS_OR_COUNTS.search(sentence) is not None


def compile_words(*parts: str) -> re.Pattern[str]:
    """Return the pattern that the parts are together, whatever the case."""
    return lazy_pattern("".join(parts), re.IGNORECASE)


# A full stop between digits or in the name of a model ends no sentence; in a text of JSON a field ends one.
_END: Final = lazy_pattern(r"(?<=[.;!?])\s+(?=\S)|(?<=[。；！？])|(?<=['\"]),\s*(?=['\"])")

# A tokenizer warns so, and goes on. What a server says when it starts is no refusal either.
_WARNING: Final = compile_words(
    r"token indices sequence length|\bkv[ _-]?cache\b|derived max_model_len|user-specified max_model_len"
)
_PATH: Final = compile_words(r"(?:invalid|value at) ['\"`]([\w.\[\]]{1,120})['\"`]")
_SHORTENED_PATH: Final = compile_words(
    r"^(?:messages|input|inputtext|prompt|contents|body)(?:$|.*(?:content|text|output|input|arguments)(?:\[\d+\])?$)"
)
_STRING_TOO_LONG: Final = compile_words(r"(?<!array )too long\b|must have length less than or equal to")
# `messages.19.content.27.image.source.base64.data` tells where, and `message:` is the name of a field.
_NO_WORDS: Final = lazy_pattern(r"\b[A-Za-z_]+(?:\.\w+|\[\d+\]){2,}|\bmessage['\"]?\s*(?::|=>)", re.IGNORECASE)

_ANSWER: Final = compile_words(
    r"\bmax[_ ]?(?:completion_|output_|new_|generated_)?tokens\b|max ?(?:completion|output|new) ?tokens",
    r"|\bmaximum (?:tokens|output)\b|(?:completion|output|generated|reasoning|thinking) (?:tokens?|length|limit)",
    r"|budget[._ ]?tokens|thinking[._ ]budget|\b(?:response|answer|reply) (?:content|text|length)\b",
)
_ADVICE_ON_ANSWER: Final = compile_words(
    r"(?:increase|raise) (?:the |your )?(?:value of )?[`'\"]?max_?(?:output_?|completion_?|new_?)?tokens"
)
_INPUT: Final = compile_words(
    r"\b(?:prompts?|inputs?|messages?|conversation|history|text)\b|tokens in (?:the |your )?request|输入|上下文"
)
_UPLOAD: Final = compile_words(
    r"\b(?:images?|pictures?|photos?|pixels?|dimensions?|pdfs?|files?|uploads?|uploaded|attachments?|audio|videos?",
    r"|media|documents?|multipart|form-data|frames?|zip|archives?|transcri\w+|content size limit|header fields?",
    r"|batch size|mcp|tool (?:response|result|output)s?",
    r"|request-uri)\b",
    r"|图片|文件",
)
_OF_CONTEXT: Final = compile_words(
    r"\b(?:context|prompt|conversation|history|input|text|messages?)\b[^.]{0,60}\btokens?\b",
    r"|\btokens?\b[^.]{0,60}\b(?:context|prompt|conversation|history|input|messages?)\b",
    r"|context[ _](?:window|length|size|limit)",
)
_TOOLS_OR_COUNTS: Final = compile_words(
    r"\btool (?:definitions?|descriptions?|schemas?|names?|count)|\btools\b|\bfunctions?\b|declarations?|\bgrammars?\b",
    r"|\bschemas?\b|\bmetadata\b|stop sequences?|\b[0-9,]+[- ](?:messages?|items|turns)\b",
    r"|number of (?:messages|items|turns|choices|requests|concurrent)|too many (?:messages|items|turns)|array too long",
)
# Of an account, over time, or of everybody's requests together.
_OTHERS_LIMIT: Final = compile_words(
    r"enqueued|\bbatch(?:es)?\b|organi[sz]ation|per[ _-]second|\b(?:daily|weekly|monthly|trial|tier|subscription)\b",
    r"|try again (?:later|in \d)|retry (?:after|in)\b|concurren|timed? ?out|deadline|每分钟|频率|余额|额度|限流",
)

# What is long: named with its measure, or by itself; and words that may stand between it and what is said of it.
_LENGTH: Final = (
    r"(?:(?:context|prompt|input|sequence|conversation|message)(?:['’]?s)?[ _-]?(?:window|length|len|size|limit|budget)"
    r"|(?:input|prompt|context|message|total|request(?:ed)?) tokens?(?: (?:count|length|limit|number))?"
    r"|(?:input|prompt|context)_tokens?|token (?:count|limit|length)"
    r"|tokens? (?:in|of) (?:the |your )?(?:prompt|input|messages|request)|number of (?:input |prompt |context )?tokens"
    r"|n_ctx|num_ctx|max_model_len|max_seq_len|max_(?:prompt|input|total)_tokens|max(?:imum)? (?:model|sequence) length"
    r"|[0-9,]+\)? (?:input |prompt )?tokens)"
)
_LONG: Final = (
    r"\b(?:prompts?|inputs?|messages?|conversation|(?:chat |message )?history|context|text|query|transcript)\b"
)
_FILLER: Final = (
    r"(?:[ \"'`*:,]++(?:is|are|was|were|has|have|been|being|be|that|you|your|the|this|provided|sent|given|submitted"
    r"|supplied|text|content|contents|size|length|tokens?|will|would|may|might|currently|far|much|already|in|of|total"
    r"|which|now|[0-9,]++|\([^()]{0,60}\)))*+[ \"'`*:,]+"
)
_BEYOND: Final = (
    r"(?:exceed(?:s|ed|ing)?|(?:longer|larger|greater|bigger|more|higher) than|over(?:flow(?:s|ed|ing)?|ran)\b"
    r"|\bover the\b|beyond|out of range|surpass(?:es|ed)?|too (?:long|large|big|small|high)|\bfilled\b"
    r"|(?:does|do|did)(?: not|n['’]?t) fit|(?:was|were|been|is|has) (?:reached|hit)|\breached\b|ran out|\bfull\b|>=?)"
)
_BOUND: Final = (
    r"(?:must (?:be|have|not)|should (?:be|have|not)|cannot|can not|may not|less than|at most|no more than|fewer than"
    r"|up to|limited to|only|<=?)"
)
_MEASURE: Final = (
    r"(?:length|tokens?|maximum|max\b|limit|size|window|capacity|context|model|allowed|\bllm\b|supported|[0-9]{3,})"
)

_RULES: Final = (
    compile_words(rf"{_LENGTH}[^.]{{0,80}}?{_BEYOND}"),
    compile_words(rf"{_BEYOND}[^.]{{0,60}}?{_LENGTH}"),
    compile_words(rf"{_LENGTH}[^.]{{0,60}}?{_BOUND}[^.]{{0,40}}?[0-9]{{3,}}"),
    # A window that is told needs no comparison.
    compile_words(
        r"max(?:imum)? (?:context|prompt|input|sequence|model) (?:length|window|size|tokens|characters)",
        r"[^.]{0,60}? (?:is|of) [0-9]{3,}",
    ),
    compile_words(rf"{_LONG}`? (?:tokens )?(?:\+ `?max_\w*tokens`? )?must (?:be|have) [^.]{{0,20}}?[0-9]{{3,}}"),
    compile_words(rf"{_LONG}{_FILLER}(?:too (?:long|large|big)\b|exceed(?:s|ed|ing)?\b[^.]{{0,60}}?{_MEASURE})"),
    compile_words(rf"{_LONG}{_FILLER}(?:longer|larger|greater|bigger|more) than\b[^.]{{0,60}}?{_MEASURE}"),
    compile_words(rf"\b(?:context|conversation)\b{_FILLER}(?:overflow|reached[^.]{{0,40}}(?:limit|maximum|length))"),
    compile_words(r"\bcontext[ _-]?overflow|overflow\w{0,20} (?:the |of the )?context|context (?:the )?overflow"),
    compile_words(r"(?:supports? only|only supports?)(?: up to)? [^.]{0,20}\bcontext\b"),
    compile_words(r"too many (?:input |prompt |context )?tokens\b"),
    compile_words(
        r"exceed(?:s|ed|ing)? (?:the |your |its )?(?:maximum |model(?:['’]s)? |allowed |total |max )*",
        r"(?:number of )?tokens?\b",
    ),
    compile_words(
        r"(?:reduce|shorten|trim|decrease|lower|cut|compact|compress) (?:down )?(?:the |your )?",
        r"(?:(?:length|size|number of tokens) (?:of|in) )?(?:the |your )?(?:input |chat |current )?",
        r"(?:messages?|prompts?|inputs?|context|conversation|history)\b",
    ),
    compile_words(r"(?:shorter|smaller) (?:prompt|input|context|conversation|message)"),
    compile_words(
        r"(?:cannot|can ?not|could not|unable to|failed to) truncate (?:the )?"
        r"(?:prompt|input|messages|context|conversation)"
    ),
    # Names of codes and exceptions.
    compile_words(r"\b(?:input|prompt|context)_(?:length|window|size)\w{0,20}_(?:error|exceeded)\b"),
    # Limits in bytes, of what is sent as a whole.
    compile_words(
        r"(?:request|payload|body|entity)(?: (?:body|size|payload|entity|content|length|is|was|data)){0,6}"
        r"[: ]+too large"
    ),
    compile_words(
        r"(?:request|payload|body|entity|message)(?: (?:body|size|payload|entity|content|length|is|was)){0,6}",
        r"(?: (?:cannot|can not|must not|may not|should not))? exceed(?:s|ed)?\b",
        r"(?![^.]{0,40}number of (?!bytes|tokens))",
        r"[^.]{0,50}?(?:size|bytes|(?<![a-z])[kmg]i?b\b|length)",
    ),
    compile_words(
        r"(?:request body|payload|body size|request size)[^.]{0,40}",
        r"(?:limit exceeded|exceed(?:s|ed)? (?:the |its )?limit)",
    ),
    compile_words(r"exceed(?:s|ed|ing)? [^.]{0,30}\b(?:bytes|size)\b[^.]{0,20}\b(?:request|payload|body)\b"),
    # Servers that give the answer what the prompt leaves: less than nothing.
    compile_words(
        r"max_(?:completion_|new_)?tokens`?'?[^.]{0,20} must be (?:at least|greater than) [01][^.]{0,40}-[0-9]+"
    ),
    # In Chinese, and in Chinese and English mixed.
    compile_words(
        r"(?:上下文|输入|提示词|对话|消息|请求|prompt|input|messages?|tokens?)[^。，]{0,24}?",
        r"(?:超过|超出|超长|超限|过长|太长|大于)",
    ),
    compile_words(r"(?:超过|超出|大于)[^。，]{0,24}?(?:上下文|最大长度|长度限制|输入长度|token ?(?:数|上限|限制))"),
)


class Numbers(NamedTuple):
    """What a refusal tells in tokens, beyond doubt."""

    limit: int | None
    """The window; an unknown one is better than a guessed one."""

    sent: int | None
    """What was counted, where it is told and more than the limit."""


UNKNOWN: Final = Numbers(None, None)


def read_numbers(text: str) -> Numbers | None:
    """
    Return the numbers of a refusal.

    None where the answer alone is longer than the window: no context is short enough for it.
    """
    numbers = _read_pairs(text)
    if numbers.limit is not None and any(number >= numbers.limit for number in _read_matches(_ANSWERS.finditer(text))):
        return None
    return numbers


def read_number(digits: str) -> int:
    """Return a number that was written with or without separators."""
    return int(digits.replace(",", "").replace("_", ""))


def _read_pairs(text: str) -> Numbers:
    added = _SUM.search(text)
    if added is not None:
        limit = read_number(added["limit"])
        sent = read_number(added["input"]) + read_number(added["answer"])
        return Numbers(limit, sent) if sent > limit else UNKNOWN
    for match in (found for one in _BOTH for found in one.finditer(text)):
        limit, sent = read_number(match["limit"]), read_number(match["sent"])
        if sent > limit:
            return Numbers(limit, sent)
    told = next((found for one in _LIMITS if (found := one.search(text)) is not None), None)
    if told is None:
        return UNKNOWN
    limit = read_number(told["limit"])
    return Numbers(limit, next((number for number in _read_matches(_TOKENS.finditer(text)) if number > limit), None))


def _read_matches(matches: Iterable[re.Match[str]]) -> Iterable[int]:
    return (read_number(match[str(match.lastgroup)]) for match in matches)


# At least two digits; no part of a name, a version or a date.
_NUMBER: Final = r"(?<![\w.\-])[0-9](?:[0-9,_]{0,14}[0-9])(?![\w%]|\.[0-9])"
_OTHER_UNIT: Final = (
    r"(?! ?(?:bytes?|characters?|chars|[kmg]i?b\b|ms\b|seconds?|messages?|items?|images?|pages|pixels|requests?))"
)
_N: Final = f"{_NUMBER}{_OTHER_UNIT}"
# Between a limit's name and its number stands no verb of what was sent, and no unit but tokens.
_GAP: Final = r"(?:(?!prompt=|\b(?:has|have|needs?|contains|requested|bytes|char)|\b[kmg]i?b\b)[^;.0-9]){0,40}?"
_MORE: Final = (
    r"(?:exceed(?:s|ed|ing)?|(?:longer|larger|greater|more|higher) than|\bover\b|beyond|above|>=?|超过|超出|大于)"
)

_SUM: Final = compile_words(rf"(?P<input>{_NUMBER}) ?\+? ?(?P<answer>{_NUMBER}) ?>=? ?(?P<limit>{_NUMBER})")
# What was counted, and then the limit.
_BOTH: Final = (
    compile_words(rf"(?P<sent>{_NUMBER})[^.;0-9]{{0,60}}?{_MORE}", rf"[^;0-9]{{0,80}}?(?<!by )(?P<limit>{_N})"),
    compile_words(rf"(?P<sent>{_NUMBER})\)? (?:must|should) (?:not )?be [^.;0-9]{{0,60}}?(?P<limit>{_N})"),
    compile_words(rf"\((?P<sent>{_NUMBER}) ?/ ?(?P<limit>{_N})\)"),
)
# In order: the surer first.
_LIMITS: Final = (
    compile_words(rf"\[ ?[0-9]+ ?, ?(?P<limit>{_NUMBER}) ?\]"),
    compile_words(
        r"(?:context[ _-]?(?:window|length|size)|n_ctx|max_(?:model|seq)_len)(?:[ _](?:size|length|limit))?",
        rf"(?: is| of)?\W{{1,4}}(?P<limit>{_N})",
    ),
    compile_words(
        rf"(?:\blimit\b|\bmax(?:imum)?(?:\b|_)|allowed|context[ _-]?(?:window|length|size)|n_ctx){_GAP}",
        rf"(?: (?:of|for) (?:model )?[\w./:\-]{{1,60}})?{_GAP}(?<!by )(?P<limit>{_N})",
    ),
    compile_words(rf"(?P<limit>{_NUMBER})[- ]tokens? (?:context|limit|maximum|max\b|window)"),
    compile_words(
        r"(?:supports?|at most|up to|exceed\b|(?:less|fewer|no more|longer|greater|larger|more) than|<=?",
        r"|最大|上限|限制)",
        rf"{_GAP}(?P<limit>{_N})",
    ),
)
_TOKENS: Final = compile_words(rf"(?P<sent>{_N})")
_ANSWERS: Final = compile_words(
    rf"(?P<before>{_NUMBER}) (?:`?max_\w*tokens|(?:output|completion) tokens|tokens for the completion",
    r"|(?:in|for) the (?:output|completion))",
    r"|max_(?!total_|input_|prompt_)(?:\w+_)?tokens`?'?(?: (?:is|of|value))?(?: too large)?",
    rf"\W{{1,6}}(?P<after>{_NUMBER})",
)
