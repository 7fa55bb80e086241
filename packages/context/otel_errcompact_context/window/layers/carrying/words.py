"""What users and the system said: what waits, and what was answered."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from otel_errcompact.runtime.lazy import lazy_pattern
from otel_errcompact_context import providers
from otel_errcompact_context.memory.markers import is_marked
from otel_errcompact_context.providers.costs import FRAME_TOKENS
from otel_errcompact_context.window.layers.carrying.files import is_restored
from otel_errcompact_context.window.layers.carrying.index import (
    ANSWERED,
    ASKED,
    OF_WORDS,
    THEN,
    Sections,
    cut_line,
    join_pieces,
    read_index,
)
from otel_errcompact_context.window.layers.results import has_failed
from otel_errcompact_context.window.pairs import is_gap, pairing_of, part_at
from otel_errcompact_context.window.shortening import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import Conversation, Message
    from otel_errcompact_context.window.layers.carrying.index import Section
    from otel_errcompact_context.window.layers.workspace import Workspace

_CHARACTERS_A_TOKEN: Final = 3
"""For an estimate of the block, rather too high than too low."""

_SHORT: Final = 60
"""Characters of an answer that means nothing without what it answers; a longer one says it itself."""

_LEAST_TOKENS: Final = 16
"""Words of which less could be shown stay in the archive."""

SHARE_OF_ROOM: Final = 3
"""One part in so many of the room that the user's words may have, however low the target is."""

_FOR_TURNS: Final = 4_000
"""So much of the room of a small window is for the newest turns, before the words have more than their share."""

_LEAST_WINDOW: Final = 24_000
"""Users say as much in a smaller window as in one of so many tokens, of which the words' share is taken at least."""

_BLOCK_SHARE: Final = 4
"""One part in so many of the share that open words leave to the block."""

_REQUEST_SHARE: Final = 0.75
"""What part of what is left the user's newest request may cost; the rest is for other words and the index ..."""

_LEAST_REQUEST: Final = 64
"""... and to how many tokens it is shortened at most: it is never absent."""

_BEGINNING: Final = 30
"""Characters by which a request is known again."""

_ACKNOWLEDGED: Final = 48
"""Tokens of a result that shows nothing, but says that something was done."""

_MAX_ASKED: Final = 120
_MAX_NOTED: Final = 240
_MAX_RULES: Final = 20
_MAX_RULE: Final = 300
_SENTENCE_END: Final = lazy_pattern(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_RULE: Final = lazy_pattern(
    # A rule in words that this does not know stands among the requests, as all that the user said.
    r"\b(?:never(?! mind)|always|from now on|at all times|under no circumstances|must not|you must|"
    r"niemals|nie|immer|von nun an|auf keinen fall|jamais|toujours|nunca|siempre|jam\u00e1s|sempre|nooit|"
    r"altijd|aldrig|alltid|nigdy|zawsze|nikdy|v\u017edy|asla|jangan|selalu|никогда|всегда|ніколи|завжди)\b|"
    r"(?:^|[,:;-]\s*|please )(?:do not|don['\u2019]t)\b|"
    r"永远|绝不|始终|务必|禁止|不要|決して|必ず|常に|절대|항상|반드시|हमेशा|कभी नहीं|أبدا|دائما|תמיד|לעולם",
)
_QUESTION: Final = lazy_pattern(r"[?\uff1f\u061f\u037e\u055e\u1367\u2047\u2048\u203d\u2e2e][\W_]{0,30}\Z")
_ASKING_TOOL: Final = lazy_pattern(r"(?i)(?:\b|_)ask.{0,12}(?:user|human|question)|(?:user|human).?input")


class Words(NamedTuple):
    """What users and the system said in messages that go."""

    kept: list[Message]
    """What stays to the letter: words of the system, and those of the user that wait for an answer."""

    request: int
    """Which of it is the user's newest request; -1 if none is."""

    sections: Sections
    """The entries of the block, by section, the newest first."""

    @property
    def request_tokens(self) -> int:
        """What the newest request costs."""
        return self.kept[self.request].tokens if self.request >= 0 else 0

    @property
    def tokens(self) -> int:
        """About what all of it costs."""
        entries = (len(entry) for entries in self.sections.values() for entry in entries)
        return sum(message.tokens for message in self.kept) + sum(entries) // _CHARACTERS_A_TOKEN


def read_words(conversation: Conversation, start: int, end: int, count_tokens: TokenCounter) -> Words:
    """
    Read what was said in some messages, and what was answered.

    An answer is a text of the model that no call follows before the user speaks again. Whether it is a yes or a no, and
    whether it says that something was done, is left to who reads it: in any language, and never guessed.
    """
    messages = conversation.messages
    reader = _Reader(messages, start)
    # The request that stands before what goes may be answered in it.
    before = find_request(messages, 0, start)
    for place in range(before if before >= 0 else start, end):
        reader.read(place)
    reader.close(islice(messages, end, None))
    found = {name: list(dict.fromkeys(reversed(entries))) for name, entries in reader.sections.items() if entries}
    if asked := list(_find_asked(conversation, start, end)):
        found["answers"] = [*reversed(asked), *found.get("answers", ())]
    places = reader.find_kept()
    request = find_request(messages)
    kept = [reader.keep(place, count_tokens) for place in places]
    return Words(kept, places.index(request) if request in places else -1, found)


def find_request(messages: Sequence[Message], start: int = 0, end: int | None = None) -> int:
    """Return where the user's newest words stand, or -1."""
    places = range((len(messages) if end is None else end) - 1, start - 1, -1)
    return next((place for place in places if is_said_by_user(messages[place])), -1)


def find_share(words: Words, workspace: Workspace) -> int:
    """Return the tokens that words and their block may cost."""
    share = workspace.options.words_share
    wanted = min(words.tokens, int(share * _LEAST_WINDOW), workspace.room - _FOR_TURNS)
    return max(int(share * workspace.window), wanted)


def keep_words(words: Words, share: int, room: int, count_tokens: TokenCounter) -> tuple[list[Message], int]:
    """
    Return the words that stay, and what is left of their share.

    What the system says comes first, then the user's words from the newest to the oldest. Of the user's what does not
    fit is shortened; what has no room even so is passed over.

    Args:
        words: What was said.
        share: What it may cost with the block, but for the user's newest request.
        room: What all of it may cost.
        count_tokens: How tokens are counted.
    """
    for_block = share // _BLOCK_SHARE if words.sections else 0
    share -= for_block
    kept: list[tuple[int, Message]] = []
    for place, said in sorted(enumerate(words.kept), key=lambda one: (one[1].role != "system", -one[0])):
        is_newest = place == words.request
        limit = max(int(room * _REQUEST_SHARE), _LEAST_REQUEST) if is_newest else min(share, room)
        shown, left = said, limit - FRAME_TOKENS
        if said.tokens > limit and said.role == "user" and left >= _LEAST_TOKENS:
            shown = providers.from_user(shorten(_text_of(said), left, count_tokens), count_tokens)
        if shown.tokens <= limit:
            room -= shown.tokens
            share -= 0 if is_newest else shown.tokens
            kept.append((place, shown))
    return [shown for _, shown in sorted(kept, key=lambda one: one[0])], min(room, share + for_block)


class _Reader:
    """Follows who waits for an answer."""

    def __init__(self, messages: Sequence[Message], start: int) -> None:
        self.sections: Sections = {}
        """What was said, the oldest first."""
        self._messages = messages
        self._start = start
        self._system: list[int] = []
        self._waiting: list[int] = []
        """Where the user's words stand that have no answer yet; what stands before the start stays there."""
        self._question = ""
        """What the model had asked before them."""
        self._answer = ""
        self._has_acted = self._has_called = self._has_changed = False
        self._asked_in: Section | None = None
        """Where the newest entry stands, if the model has asked back in it."""

    def read(self, place: int) -> None:
        """Read the next message."""
        message = self._messages[place]
        self._look(message)
        if message.role == "assistant":
            self._hear(message)
        elif is_gap(message):
            self._pass_gap(place)
        elif is_said_by_user(message):
            self._listen(place)
        elif message.role == "system" and place >= self._start:
            self._system.append(place)

    def _hear(self, message: Message) -> None:
        self._has_acted = True
        for part in message.parts:
            if part.kind == "call":
                self._answer, self._has_called = "", True
            elif part.kind == "text" and part.text.strip():
                self._answer = part.text

    def _look(self, message: Message) -> None:
        # What is read is long; what is changed is answered with a few words.
        results = (part for part in message.parts if part.kind == "result" and part.tokens <= _ACKNOWLEDGED)
        self._has_changed |= any(
            not is_marked(part.text) and not has_failed(part, part._replace(text="")) for part in results
        )

    def _pass_gap(self, place: int) -> None:
        # A request before it may have been answered in the messages that it replaces; its block says so then.
        earlier = read_index(self._messages[place])
        entries = (entry for section in OF_WORDS for entry in earlier.get(section, ()))
        answered = tuple(said for entry in entries if (said := entry.partition(THEN)[0][:_BEGINNING]))
        self._drop_standing()
        self._waiting = [
            one for one in self._waiting if not join_pieces(_text_of(self._messages[one])).startswith(answered)
        ]
        self._question, self._answer, self._asked_in = "", "", None
        for section in OF_WORDS if place >= self._start else ():
            self._add(section, reversed(earlier.get(section, ())))

    def _listen(self, place: int) -> None:
        if self._has_acted and not _holds_result(self._messages[place]):
            self._settle()
            self._question = self._answer if _QUESTION.search(self._answer) else ""
        else:
            # What is said beside results comes in the middle of a turn.
            self._drop_standing()
        self._waiting.append(place)
        self._answer, self._has_acted, self._has_called, self._has_changed = "", False, False, False

    def close(self, following: Iterable[Message]) -> None:
        """Look for the last answer in what stays."""
        for message in following:
            self._look(message)
            if message.role == "assistant":
                self._hear(message)
            elif is_gap(message):
                break
            elif is_said_by_user(message) and not _holds_result(message):
                if self._has_acted and not self._waits_for_reply(_text_of(message)):
                    self._settle()
                return
        if self._answer and not self._waits_for_reply():
            self._settle()

    def _waits_for_reply(self, reply: str = "") -> bool:
        # A request that the model asks back for stays with the reply, until both are answered.
        is_open = len(reply) <= _SHORT and not self._has_changed and _QUESTION.search(self._answer) is not None
        return is_open and not any(_QUESTION.search(_text_of(self._messages[place])) for place in self._waiting)

    def _settle(self) -> None:
        request = "\n".join(_text_of(self._messages[place]) for place in self._waiting)
        stays = bool(self._waiting) and self._waiting[0] < self._start
        before, request = ("", request) if stays or self._has_changed else _split_question(request)
        rules = [] if stays else list(_find_rules(request))
        # An order that is a rule by itself stands once, with what came of it.
        is_rule = rules == [join_pieces(request)] and bool(self._answer) and not self._is_reply(request)
        is_noted = not stays and (is_rule or self._is_noted(request))
        if before:
            self._add("statements of the user", [*_find_rules(before), join_pieces(before, self._answer)])
        if not is_noted:
            self._add("statements of the user", rules)
        asks, asked_in = _QUESTION.search(self._answer) is not None, self._asked_in
        self._asked_in = None
        is_done = self._has_changed and not asks
        section: Section = "worked on" if is_done or not self._answer else "replied to"
        if self._is_reply(request):
            # One entry with the request, if that is known, what the model asked back, and what came of it.
            asked = self.sections[asked_in].pop() if asked_in else f"{ASKED}{cut_line(self._question, _MAX_ASKED)}"
            section = min(section, asked_in or "answers", "answers", key=OF_WORDS.index)
            self._add(section, [THEN.join((asked, join_pieces(f"{ANSWERED}{request}", self._answer)))])
        elif request and not (stays and (asks or not self._answer)):
            # What stays waits on, if the model asks back or works on it.
            section = "statements of the user" if is_noted else section
            said = request.split(THEN) if request.startswith(ASKED) else [request[:_SHORT] if stays else request]
            self._add(section, [join_pieces(*said, self._answer)])
            self._asked_in = section if asks and not self._has_changed else None
        self._waiting.clear()

    def _is_reply(self, said: str) -> bool:
        return bool(self._question and len(self._waiting) == 1 and len(said) <= _SHORT and not _QUESTION.search(said))

    def _is_noted(self, said: str) -> bool:
        # What asks nothing and needs no call but a word is what the model is to know from then on.
        is_short = 0 < len(self._answer) <= _MAX_NOTED and not _QUESTION.search(self._answer)
        is_free = is_short and not self._has_called and not self._is_reply(said)
        return is_free and len(said) > _BEGINNING and not _QUESTION.search(said)

    def _drop_standing(self) -> None:
        if self._waiting and self._waiting[0] < self._start:
            self._waiting = [place for place in self._waiting if place >= self._start]

    def _add(self, section: Section, entries: Iterable[str]) -> None:
        self.sections.setdefault(section, []).extend(entries)

    def find_kept(self) -> list[int]:
        """Return where the messages stand that stay."""
        self._drop_standing()
        return sorted((*self._system, *self._waiting))

    def keep(self, place: int, count_tokens: TokenCounter) -> Message:
        """Return a message that stays, a short answer with its question."""
        message = self._messages[place]
        if self._waiting == [place] and len(message.parts) == 1 and self._is_reply(said := _text_of(message)):
            return providers.from_user(_pair(self._question, said), count_tokens)
        return providers.from_user(_text_of(message), count_tokens) if _holds_result(message) else message


def _find_asked(conversation: Conversation, start: int, end: int) -> Iterator[str]:
    # What tools have asked the user for.
    messages = conversation.messages
    for call, result in pairing_of(conversation).pairs():
        if result is not None and start <= result.message < end:
            asked, answer = part_at(messages, call), part_at(messages, result)
            if asks_user(asked.tool) and not is_marked(answer.text):
                yield _pair(asked.text, answer.text)


def asks_user(tool: str) -> bool:
    """Tell whether a tool asks the user, by its name."""
    return _ASKING_TOOL.search(tool) is not None


def _pair(question: str, answer: str) -> str:
    return join_pieces(f"{ASKED}{cut_line(question, _MAX_ASKED)}", f"{ANSWERED}{answer}")


def _find_rules(text: str) -> Iterator[str]:
    said = (sentence.strip() for sentence in _SENTENCE_END.split(text))
    rules = (one for one in said if len(one) <= _MAX_RULE and _RULE.search(one.lower()) and not _QUESTION.search(one))
    return map(join_pieces, islice(rules, _MAX_RULES))


def _split_question(text: str) -> tuple[str, str]:
    # Who says so much before a question, and asks nothing in it, wants it known.
    *before, asked = _SENTENCE_END.split(text.strip())
    is_much = sum(map(len, before)) > _MAX_ASKED and _QUESTION.search(asked) is not None
    return (" ".join(before), asked) if is_much and not any(map(_QUESTION.search, before)) else ("", text)


def is_said_by_user(message: Message) -> bool:
    """Tell whether a user says something, if only by a picture."""
    if message.role != "user" or is_gap(message) or is_restored(message):
        return False
    kinds = {part.kind for part in message.parts if part.kind != "text" or part.text.strip()}
    return "text" in kinds or ("other" in kinds and "result" not in kinds)


def _holds_result(message: Message) -> bool:
    return any(part.kind == "result" for part in message.parts)


def _text_of(message: Message) -> str:
    # Of a text that was shortened before its marker says nothing here.
    lines = (line for part in message.parts if part.kind == "text" for line in part.text.split("\n"))
    return "\n".join(line for line in lines if not is_marked(line)).strip() or "(no text)"
