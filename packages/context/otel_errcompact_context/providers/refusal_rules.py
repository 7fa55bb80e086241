"""Rules for refusals in any words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

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
    """The window, where the text tells it in tokens beyond doubt; an unknown one is better than a guessed one."""

    sent_tokens: int | None
    """What was counted, where it is told and more than the limit."""


ANSWER_ALONE: Final = Ruling(0, None, None)
"""The answer alone is longer than the window: no context is short enough for it."""


def read_by_rules(text: str) -> Ruling | None:
    """
    Read a text as a refusal of a too long context.

    A sentence counts that compares the length of a context, prompt or input with a limit. It does not count where it
    speaks of the answer alone, of uploads, of tools, or of a number of messages.
    """
    start, first = 0, None
    for line in text.split("\n"):
        sentences = list(_split_sentences(line[:LINE_CHARS]))
        for index, (at, sentence) in enumerate(sentences):
            if not says_too_long(sentence):
                continue
            around = [one for _, one in sentences[max(0, index - _AROUND) : index + _AROUND + 1]]
            if _PATH.search(sentence) and _STRING_TOO_LONG.search(sentence):  # a limit in characters
                return None if any(map(_OTHERS_LIMIT.search, around)) else Ruling(start + at, None, None)
            numbers = read_numbers([*around, *_FIELD.findall(text)])
            if numbers is None:
                return ANSWER_ALONE
            first = first or Ruling(start + at, None, None)
            if numbers[0] is not None:
                return Ruling(first.start, *numbers)
        start += len(line) + 1
    return first


def says_too_long(sentence: str) -> bool:
    """Tell whether one sentence says that a context is too long."""
    path = _PATH.search(sentence)
    # `Invalid 'messages[17].content': string too long`: the path says whether a shorter list would help.
    if path is not None and _SHORTENED_PATH.search(path[1]) is None:
        return False
    if path is not None and _STRING_TOO_LONG.search(sentence):
        return True
    words = _JOINT.sub(" ", _NO_WORDS.sub(" ", sentence))
    return not _is_of_another(words) and (
        any(rule.search(words) for rule in _RULES)
        or bool(_OF_CONTEXT.search(words) and (_LONGER.search(words) or _counts_more(sentence)))
    )


def _counts_more(sentence: str) -> bool:
    # Whether it tells a count of tokens and a smaller limit.
    return (read_numbers([sentence]) or (None, None))[1] is not None


def blank_unsaid(text: str) -> str:
    """Blank what states nothing of this request: quotations, conditions and advice."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        for start, end in _find_quoted(line):
            lines[index] = _blank(lines[index], start, end)
        for at, sentence in _split_sentences(lines[index][:LINE_CHARS]):
            if _UNSAID.search(sentence) and not _counts_more(sentence):
                lines[index] = _blank(lines[index], at, at + len(sentence))
    return "\n".join(lines)


def _find_quoted(line: str) -> Iterator[tuple[int, int]]:
    # What stands after words that say that it happened is no quotation but what was said.
    start = 0
    while quote := _QUOTE.search(line, start, LINE_CHARS):
        at, lead = quote.start(), max(0, quote.start() - _LEAD)
        is_said = not quote[3] and SAYS.search(line, lead, at) and not SENT.search(line, lead, at)
        start = at + 1
        if not is_said and (" " in quote[2] or (quote[2].count("_") > 1 and says_too_long(quote[2]))):
            start = quote.end()
            yield at, start


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


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


SAYS: Final = compile_words(
    r"(?:^|(?<!user)(?<!user_)messages?|msg|(?<!key)errors?|err|exception|warning|fault|problem|details?|reason|cause"
    r"|desc|description|explanation|info|raw|body|code|type|status|occurred|failed|returned|responded|replied|raised"
    r"|rejected|refused|server|provider|upstream|fehler|erreur|mensaje)[\W0-9]*$"
)
"""The words before what happened, in a sentence or as the name of a field; other fields hold what was sent."""

SENT: Final = compile_words(r"\b(?:arguments|ctx|input|messages|param\w*|request)(?:\W{1,5}[{\[][^}\]]*)?$")
"""The names of fields that hold what was sent, however the fields in them are called."""

# From a quotation mark before a word to one after it, or to the end; what follows may say that it is only spoken of.
_QUOTE: Final = lazy_pattern(
    r"(?<![\w.!?)\]}])([\"'])(?![\s,:;.)\]}]|\1)((?:[^\"']++|[\"'](?=\w)|(?<=\s)[\"']|(?!\1)[\"']){1,200}+)(?:\1|$)"
    r"( (?:is|are|was|in|does|did|not|already)\b)?"
)
_FIELD: Final = lazy_pattern(r"^\w[\w.-]{0,40}: [0-9,_]{2,16}$", re.MULTILINE)
# A full stop between digits or in the name of a model ends no sentence; in a text of JSON a field ends one.
_END: Final = lazy_pattern(r"(?<=[.!?])\s+(?=\S)|(?<=[。；！？])|(?<=['\"0-9}\]]),\s*(?=['\"])")

# Conditions and advice are no refusals.
_UNSAID: Final = compile_words(
    r"\bwill be (?:exceeded|reached)|\b(?:does|do|did)(?: not|n['’]t) exceed"
    r"|^\W*(?:how|what|why|for example|fix(?:e[ds])?|feat|def)\b|\bto avoid\b"
    r"|\b(?:may|might|could|can) (?:exceed|overflow)"
    r"|\b(?:if|when|unless) (?:(?!because|since)[^:.]){0,50}?\b(?:exceed|too (?:long|large))"
)
_TOKENS: Final = r"(?:\b(?:tokens?|jetons?|input ids)\b|トークン)"
_SENDING: Final = (
    r"(?:\b(?:prompts?|inputs?|messages?|conversation|history|text|eingabe|anfrage|verlauf|entrée|requête|entrada"
    r"|solicitud|conversación)\b|输入|上下文|プロンプト|入力|会話|リクエスト)"
)
# In German, French, Spanish and Japanese.
_TOO_LONG: Final = (
    r"(?:\b(?:zu (?:lang|groß)\b|pass(?:t|en) nicht|trop (?:long|grand)|tien(?:t|nent) p|demasiad[oa] (?:larg|grand)"
    r"|no caben?\b)|長すぎ|大きすぎ|収まりません)"
)
_LONGER: Final = compile_words(
    r"\b(?:über(?:schr|st)|(?:länger|größer|mehr) als|dépass|exc[eè]d[ae]\b|plus longue? que|super(?:an?|ó|ad[oa])\b",
    rf"|más larg[oa] que)|超え|超過|{_TOO_LONG}",
)
_PATH: Final = compile_words(r"(?:invalid|value at) ['\"`]([\w.\[\]]{1,120})['\"`]")
_SHORTENED_PATH: Final = compile_words(
    r"^(?:messages|input|inputtext|prompt|contents|body)(?:(?:\[\d+\])?$|.*(?:content|text|output|input|arguments)(?:\[\d+\])?$)"
)
_STRING_TOO_LONG: Final = compile_words(r"(?<!array )too long\b|must have length less than or equal to")
# `messages.19.content.27.image.source.base64.data` tells where, `message:` and `prompt_tokens=9` are fields, “...” is
# quoted, and an access token is no token of a text.
_NO_WORDS: Final = compile_words(
    r"\b[a-z_]+(?:\.\w+|\[\d+\]){2,}|\bmessage['\"]?\s*(?::|=>)|“[^”]*”|\b\w*_tokens=[0-9]+|(?<=[0-9])\.0\b"
    r"|\b(?:access|refresh|bearer|auth\w*|session|csrf|jwt|api) tokens?\b"
)

# `prompt_too_long` and `ContextWindowExceeded` are words like others.
_JOINT: Final = lazy_pattern(r"(?<=[A-Za-z])_(?=[A-Za-z])|(?<=[a-z])(?=[A-Z][a-z])")
_ANSWER: Final = compile_words(
    r"\bmax[_ ]?(?:completion_|output_|new_|generated_)?tokens\b|max ?(?:completion|output|new) ?tokens",
    r"|\bmaximum (?:tokens|output)\b|(?:completion|output|generated|reasoning|thinking) (?:tokens?|length|limit)",
    r"|budget[._ ]?tokens|thinking[._ ]budget|\b(?:response|answer|reply) (?:content|text|length)\b|before any",
    r"|\b(?:antwort|ausgabe|réponse|sortie|respuesta|salida)|出力|応答",
)
_INPUT: Final = compile_words(rf"{_SENDING}|tokens in (?:the |your )?request")
_UPLOAD: Final = compile_words(
    r"\b(?:images?|pictures?|photos?|pixels?|dimensions?|pdfs?|files?|uploads?|uploaded|attachments?|audio|speech",
    r"|videos?|media|documents?|multipart|form-data|frames?|zip|archives?|transcri\w+|content size limit",
    r"|header fields?|mcp|tool (?:response|result|output)s?|request-uri|datei|bild|fichier|archivo|imagen)\b",
    "|图片|文件|画像|ファイル",
)
_OF_CONTEXT: Final = compile_words(
    rf"(?:\bcontext\b|{_SENDING})[^.]{{0,60}}{_TOKENS}|{_TOKENS}[^.]{{0,60}}(?:\bcontext\b|{_SENDING})",
    r"|context[ _](?:window|length|size|limit)|\binput ids\b|kontext|\bcontext[eo]\b|コンテキスト",
)
_TOOLS_OR_COUNTS: Final = compile_words(
    r"\btool (?:definitions?|descriptions?|schemas?|names?|count)|\btools\b|\bfunctions?\b|declarations?|\bgrammars?\b",
    r"|\bschemas?\b|\bmetadata\b|stop sequences?|\b[0-9,]+[- ](?:messages?|items|turns)\b",
    r"|number of (?:messages|items|turns|choices|requests|concurrent)|too many (?:messages|items|turns)|max ?items",
    r"|array too long",
)
# Of an account, over time, of everybody's requests together, of a server that starts, of other work than answers,
# shorter than any window, or a least.
_OTHERS_LIMIT: Final = compile_words(
    r"token indices sequence|\bkv[ _-]?cache\b|\bmax model len\W+[0-9]+\)? (?:is|exceed|must)|n ctx train",
    r"|(?<!position )\bembeddings?\b|\bre-?rank|fine-?tun|\btraining\b|too short|\bminimum\b|threshold",
    r"|\bspen[dt]\b|workspace|allowance|\$[0-9]",
    r"|(?<![\w,])[0-4]?[0-9]{1,3}[ -](?:characters?|chars|zeichen|caract[eè]res)\b|[0-9]文字",
    r"|a string with maximum length [0-4]?[0-9]{1,3}\b|分あたり|毎分",
    r"|organi[sz]ation|\b(?:daily|weekly|monthly|trial|tier|subscription)\b",
    r"|try again (?:later|in \d)|retry (?:after|in)\b|concurren|vram\b|timed? ?out|deadline|每分钟|频率|余额|额度|限流",
    r"|\b(?:pro|par|por|je) (?:tag|stunde|minute|monat|jour|heure|mois|d[ií]a|hora|minuto|mes)\b",
)

# What is long: named with its measure, or by itself; and words that may stand between it and what is said of it.
_LENGTH: Final = (
    r"(?:(?:context|prompt|input|sequence|conversation|messages)(?:['’]?s)?[ -]?(?:window|length|len|size|limit|budget)"
    r"|(?:input|prompt|context|messages?|total|request(?:ed)?) tokens?(?: (?:count|length|limit|number))?"
    r"|tokens? (?:count|limit|length)"
    r"|tokens? (?:in|of) (?:the |your )?(?:prompt|input|messages|request)|number of (?:input |prompt |context )?tokens"
    r"|(?:n|num) ctx|max(?:imum)? (?:model|seq|sequence) len(?:gth)?|model max(?:imum)? length"
    r"|[0-9,]+\)? (?:input |prompt )?tokens)"
)
_LONG: Final = r"\b(?:prompts?|inputs?|messages|conversation|history|chat|context|sequence)\b"
_FILLER: Final = (
    r"(?:[ \"'`*:,]++(?:is|are|was|were|has|have|been|being|become|grown|be|that|it|you|your|the|this|provided|sent"
    r"|given|submitted|supplied|text|contents?|size|length|tokens?|will|would|may|might|currently|far|much|already|in|of"
    r"|total|which|now|[0-9,]++|\([^()]{0,60}\)))*+[ \"'`*:,]+"
)
_BEYOND: Final = (
    r"(?:exceed(?:s|ed|ing)?|(?:longer|larger|greater|bigger|more|higher) than|over(?:flow(?:s|ed|ing)?|ran)\b"
    r"|\b(?:over|above) (?:the|limit|max\w*)\b|beyond|out of range|surpass(?:es|ed)?"
    r"|too (?:long|large|big|many|high|small for)|\bfilled\b|exhausted|(?:not|n['’]?t|no longer) (?:be )?fit"
    r"|(?:is|was|were|been|has) hit|\breached\b|ran out|(?<!%) full\b|(?<![-=])>=?)"
)
_BOUND: Final = (
    r"(?:(?:must|should) (?:be|have|not)|can ?not|may not|(?:less|fewer|no more) than"
    r"|at most|(?:up|limited) to|only|<=?)"
)
_MEASURE: Final = (
    r"(?:length|tokens?|maximum|max\b|limit|size|window|capacity|context|model|allowed|\bllm\b|supported|[0-9]{3,})"
)
_SIZE: Final = r"(?:\bsize|bytes|(?<![a-z])[kmg]i?b\b|length)"
_MANY: Final = "[0-9][0-9,]{2,}"

_RULES: Final = (
    compile_words(rf"{_LENGTH}[^.]{{0,80}}?{_BEYOND}"),
    compile_words(rf"{_BEYOND}(?:(?!, [0-9])[^.]){{0,60}}?{_LENGTH}"),
    compile_words(
        rf"(?:{_LENGTH}[^.]{{0,60}}?|{_LONG}`? (?:tokens )?(?:\+ `?max \w+ tokens`? )?)",
        rf"{_BOUND}[^.]{{0,40}}?{_MANY}",
    ),
    # A stated window needs no comparison.
    compile_words(
        r"max(?:imum)? (?:(?:context|prompt|input|sequence|model) (?:length|window|size|characters)|",
        r"(?!output|completion|new|generated|reasoning)\w+ tokens",
        rf"|length of (?:the |your |current )*(?:{_LONG}|question))[^.]{{0,60}}? (?:is|of) {_MANY}",
    ),
    compile_words(
        rf"{_LONG}{_FILLER}(?:too (?:long|large|big)\b",
        r"|(?:exceed(?:s|ed|ing)?|(?:longer|larger|greater|bigger|more) than|(?:\w+(?:n['’]?t| ?not)|no longer) fits?)",
        rf"\b[^.]{{0,60}}?{_MEASURE})",
    ),
    compile_words(
        rf"\b(?:context|conversation)\b{_FILLER}(?:overflow|reached[^.]{{0,40}}(?:limit|maximum|length))",
        r"|overflow\w{0,20} (?:of )?(?:the )?context",
    ),
    compile_words(
        r"(?:(?:accepts?|supports?|allows?) (?:only|at most|up to)|only (?:accepts?|supports?))",
        r" [^.]{0,20}\b(?:context|tokens)\b",
    ),
    compile_words(
        r"(?:too many|exceed(?:s|ed|ing)?)(?: (?:the|your|its|maximum|model(?:['’]s)?|allowed|total|max|number of))*",
        r"(?: (?:input|prompt|context))? tokens?\b",
    ),
    # What to shorten; what was not shortened; names of codes and exceptions.
    compile_words(
        rf"\breduce (?:the )?length of (?:the |your )?(?:input )?{_LONG}",
        # Bedrock's schema, where no field is named: the prompt of a model that takes a text.
        rf"|input request: expected max ?length: {_MANY}, actual: ",
        rf"|(?:not|unable to|failed to) truncate [^.]{{0,30}}?(?:{_LONG}|to {_MANY})",
        r"|\b(?:input|prompt|context|token)s?(?: tokens?)? (?:(?:length|window|size) error|quantity)\b",
    ),
    # Limits in bytes, of what is sent as a whole.
    compile_words(
        r"(?:request|payload|body)(?: (?:body|size|payload|entity|content|length|is|was|data)){0,6}",
        r"(?:[: ]+too large|(?: (?:cannot|can not|(?:must|may|should) not))? exceed(?:s|ed)?\b",
        rf"(?![^.]{{0,40}}number of (?!bytes|tokens))[^.]{{0,50}}?{_SIZE})",
        rf"|exceed(?:s|ed|ing)? [^.]{{0,30}}{_SIZE}[^.]{{0,20}}\b(?:request|payload|body)\b",
    ),
    # In other languages, and mixed with English.
    compile_words(
        r"(?:超过|超出|大于)[^。，]{0,24}?(?:上下文|最大长度|长度限制|输入长度|token ?(?:数|上限|限制))",
        r"|(?:上下文|输入|提示词|对话|消息|请求|prompt|input|messages?|tokens?)[^。，]{0,24}?",
        rf"(?:超过|超出|超长|超限|过长|太长|大于)|{_SENDING}[^.。]{{0,60}}?{_TOO_LONG}",
    ),
)


def read_numbers(sentences: Iterable[str]) -> tuple[int | None, int | None] | None:
    """
    Return the limit that a refusal tells, and what was counted.

    A number counts only with a unit or with a word that it belongs to: a status, a code, a date or an id is none.
    None where the answer alone is longer than the window: no context is short enough for it.
    """
    numbers = [judged for sentence in sentences for judged in _judge_numbers(sentence)]
    limit = next((number for role, number in numbers if role == "limit"), None)
    if limit is None:
        return None, None
    answers = [number for role, number in numbers if role == "answer"]
    if any(answer >= limit for answer in answers):
        return None
    sent = [number for role, number in numbers if role == "sent"]
    sums = [number + answers[0] for number in sent if answers]  # of parts, where no number is all that was sent
    beyond = [limit + number for role, number in numbers if role == "beyond"]
    return limit, next((number for number in (*sent, *sums, *beyond) if number > limit), None)


def _judge_numbers(sentence: str) -> Iterator[tuple[str, int]]:
    plain = _WRITTEN.sub(lambda written: re.sub("[. ]", "", written[1].lower()).replace("k", "000"), sentence)
    parts, added = _NUMBER.split(_LOST_PLUS.sub(" + ", plain)), 0
    has_answer = _ANSWER.search(sentence) is not None
    for before, digits, after in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        number, is_added = int(digits.replace(",", "").replace("_", "")), before.strip() == "+"
        if is_added and has_answer:
            yield "answer", number
        added = number + (added if is_added else 0)
        yield _judge(before[-_REACH:], after[:_REACH]), added


def _judge(before: str, after: str) -> Literal["limit", "sent", "answer", "beyond", ""]:
    # What a number is by the words that lead to it, and by its unit.
    if _OTHER_UNIT.match(after) or _OTHER_NAME.search(before):
        return ""
    if _ANSWER_BEFORE.search(before) or _ANSWER_AFTER.match(after):
        return "answer"
    if _COMPARED.match(after):
        return "sent"
    has_unit = _UNIT.match(after) is not None
    if _BEYOND_BY.search(before):
        return "beyond" if has_unit else ""
    if (
        (before.strip() and _LIMIT_AFTER.match(after))
        or _LIMIT_BEFORE.search(before)
        or (has_unit and _LIMIT_NEAR.search(before))
    ):
        return "limit"
    return "sent" if has_unit or _SENT_BEFORE.search(before) else ""


_REACH: Final = 100
_LEAD: Final = 28
# At least two digits; no part of a name, a version, a date or a time.
_NUMBER: Final = lazy_pattern(
    r"(?<![A-Za-z0-9_.\-#<])(?<![0-9]:)(?<!\b[0-9]{2}/)([0-9][0-9,_]{0,14}[0-9])"
    r"(?![A-Za-z0-9_%]|[.:\-][0-9]|/[0-9]{1,2}\b)"
)
# Some log files lose the sign.
_LOST_PLUS: Final = lazy_pattern("(?<=[0-9]) (?=[0-9]+ > [0-9])")
# As 8.192, 140 000 and 32k are written; a thousand is meant, for a window that is too small does no harm.
_WRITTEN: Final = compile_words(rf"(?<![\w.,])([1-9][0-9]{{,2}}(?:[. ][0-9]{{3}})+|[0-9]{{1,4}}k)(?=[ -]?{_TOKENS})")
_UNIT: Final = compile_words(rf"\)?[ -]?(?:[a-z]+ )?{_TOKENS}")
_OTHER_UNIT: Final = compile_words(
    r"\)? ?(?:pdf |tool |unicode )?(?:bytes?|characters?|chars|[kmg]i?b|m?s|seconds?|minutes?|hours?|days?|messages?",
    r"|items?|images?|pages?|pixels|requests?|calls|turns|steps|words|tools|functions|files|retries|attempts|times",
    # The words of a status.
    r"|bad request|payload too|content too|request entity|unprocessable|(?:client|server|internal|service) \w+)\b",
)
_OTHER_NAME: Final = compile_words(
    r"\bhttps?://\S*$|(?<![a-z])(?:https?|status|code|error|errno|id|ref)[\s\"'`*:=(\[#>]*$"
)
_BEYOND_BY: Final = compile_words(r"\bby (?:about |some |at least )?$")
_ANSWER_BEFORE: Final = compile_words(
    r"max_(?!total_|input_|prompt_)(?:\w+_)?tokens`?'?(?: (?:is|of|value))?(?: too large)?\W{1,6}$"
)
_ANSWER_AFTER: Final = compile_words(
    r" (?:`?max_\w*tokens|(?:output|completion) tokens|(?:tokens )?(?:in|for) the (?:output|completion))"
)
_COMPARED: Final = compile_words(
    r"[)\]]*(?: (?:[a-z]+ )?tokens?\)?)?,?\s*(?:(?:which|that|and|is|are|was|has|much) )*",
    r"(?:[+/]|>=?|exceed(?:s|ing)?\b|exceeded (?!by)(?=[a-z])|(?:longer|larger|greater|bigger|more|higher) than|over\b",
    r"|above|beyond|too (?:long|large|many|big)|(?:must|should) (?:not )?be|cannot exceed|超过|超出|大于|länger als",
    r"|vs\b|(?<=, )\w*(?:window|l[ií]mit|m[aá]x|fenster|erlaubt)\w*(?: is| of| sind| de)?[ :=]*$)",
)
_LIMIT_AFTER: Final = compile_words(
    r"\)?(?:[- ]tokens?[- ]|(?: tokens)? (?:is|are) (?:the )?| (?=max(?:imum)? context\b))",
    r"(?:context|limit|max(?:imum)?|window|allowed|supported|available)\b(?! ?[=:])|,? available\b",
)
_LIMIT: Final = (
    r"(?:(?<![a-z])(?:limit(?:ed)?|max(?:imum)?|(?:context|model|session|seq)[ _-]?(?:window|len(?:gth)?|size)|window"
    r"|context(?= (?:is|of) )|(?:n|num)_ctx|capacity|(?<!not )(?:allow|permit|support)(?:s|ed)?|accepts?|up to|at most"
    r"|exceeds?|into(?= $)|truncate (?:\w+ )?to|(?:less|fewer|longer|larger|greater|more|higher) than"
    r"|m[aá]xim\w+|l[ií]mit\w+|höchstens|erlaubt(?: sind)?|kontext\w*|fen[eê]tre|dépasse|exc[eè]d[ea]|supera)(?![a-z])"
    r"|(?<![^\s)])[<>]=?|[\[(][01], ?|最大|上限|ウィンドウ|限制|允许|超过|超出|大于)"
)
# Between a limit's word and its number stands nothing but its name, and whose it is.
_LIMIT_BEFORE: Final = compile_words(
    rf"^[)\] ]*(?:tokens )?/ ?$|{_LIMIT}(?:[\s_\"'`*(（]|(?:(?:for|of) (?:model )?[\"'`]?[a-z][\w.:@]*[/\-][\w./:@\-]*",
    r"|of|is|are|was|be|or|to|only|equal|set|the|this|that|your|our|its|in tokens|per|models?(?:['’]s)?|context",
    r"|(?:inputs?|prompts?)(?!=)|sequence|(?:messages?|requests?) tokens|per request|total|combined|numbers?|counts?",
    r"|tokens?|length|len|size|window|limit|max(?:imum)?|capacity|value|allowed|permitted|supported|configured",
    # Of MiniMax, `context window exceeds limit (2013)`, it is a code.
    r"|currently)(?![a-z])|为|是|长度|输入|令牌|数|的|最大|限制|上限|了|コンテキスト|トークン|長|は|が|の)*+",
    r"[\s\"'`*:=(\[：]*(?<!exceeds limit \()$",
)
_LIMIT_NEAR: Final = compile_words(
    rf"{_LIMIT}(?:(?!\b(?:has|have|had|needs?|contains|requested|resulted|received|got|given|sent|used|with|after|but"
    r"|while|current|estimated|by|at(?! most))\b)[^;]){0,60}$"
)
_SENT_BEFORE: Final = compile_words(
    r"(?<![a-z])(?:requested|received|got|given|sent|passed|has|have|contains?|needs?|used|resulted in|take|prompt",
    r"|inputs?|\w*len(?:gth)?|size|count|tokens?|total|actual|current|estimated|required?|too (?:long|large|big))",
    r"[\s\"'`*:=(\[]+(?:(?:about|of|is|was|at least) ){0,2}$",
)
