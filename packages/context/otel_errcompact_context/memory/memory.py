"""
Remember what was read of conversations.

A window reads no message twice that has not changed.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from otel_errcompact.runtime.forks import reset_in_child
from otel_errcompact.runtime.locks import ReentrantLock
from otel_errcompact_context import providers
from otel_errcompact_context.memory.witness import Witness
from otel_errcompact_context.messages import Conversation, is_beginning
from otel_errcompact_context.providers.telling import decide_format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_errcompact.digest.tokens import TokenCounter
    from otel_errcompact_context.messages import FormatName, Message
    from otel_errcompact_context.providers.provider import Provider, TurnRules

MAX_MESSAGES: Final = 20_000
"""Messages that a window remembers, of all conversations together; a longer list is not remembered."""

MAX_CHARACTERS: Final = 50_000_000
"""The length of all texts in them."""

_CHUNK: Final = 50
"""Messages that are checked together: where one has changed, these and all behind them are read again."""


class _Chunk:
    """Messages in a row."""

    __slots__ = ("messages", "natives", "witness")

    def __init__(self) -> None:
        self.natives: list[object] = []
        self.messages: list[Message] = []
        self.witness = Witness()


class Memory:
    """
    What is remembered of one conversation.

    Only the beginning that is unchanged counts, and the same `Message` stands for it each time: what was computed from
    that very object holds.
    """

    def __init__(self) -> None:
        self.states: Final[dict[str, object]] = {}
        """What layers have remembered, and the survey of what they took out."""
        self._chunks: list[_Chunk] = []
        self._format: FormatName | None = None
        self._decided_by: int | None = None
        """How many messages decided the format; None if no message did."""
        self._computed: dict[str, object] = {}
        """What was computed of the list before."""
        self._checks: dict[bool, Check] = {}
        """Of the list as it came, and of what it was compacted to."""

    @property
    def first(self) -> object:
        """The first message that is remembered."""
        return self._chunks[0].natives[0]

    @property
    def size(self) -> int:
        """How many messages are remembered."""
        return sum(len(chunk.natives) for chunk in self._chunks)

    @property
    def characters(self) -> int:
        """How long their texts are together."""
        return sum(chunk.witness.characters for chunk in self._chunks)

    def read_list(
        self,
        messages: Sequence[object],
        count_tokens: TokenCounter,
        format: FormatName | None = None,  # noqa: A002 - the word for it
    ) -> Conversation:
        """
        Read a list as `providers.read_list` does.

        Of an unchanged beginning nothing is read.

        Raises:
            ConversationError: As `providers.read_list`.
        """
        if isinstance(messages, (str, bytes)) or len(messages) > MAX_MESSAGES:
            self._chunks.clear()
            return providers.read_list(messages, count_tokens, format)
        natives = list(messages)
        known = self._find_known(natives)
        name = self._tell_format(natives, known, format)
        if name != self._format:
            self._chunks.clear()
            known, self._format = 0, name
        read = [message for chunk in self._chunks for message in chunk.messages]
        provider = providers.PROVIDERS[name]
        read += self._read_on(natives, known, provider, count_tokens)
        conversation = Conversation(format=name, messages=tuple(provider.settle_messages(read)))
        conversation.computed.update(self._computed)
        self._computed = conversation.computed
        return conversation

    def check_list(self, conversation: Conversation, *, is_given: bool = False) -> Check:
        """
        Check a list by its provider's rules.

        Of an unchanged beginning nothing is read.
        """
        check = self._checks.get(is_given)
        if check is None or not check.is_beginning_of(conversation):
            check = self._checks[is_given] = Check(conversation.format)
        check.read_on(conversation.messages)
        return check

    def _find_known(self, natives: list[object]) -> int:
        known = 0
        for number, chunk in enumerate(self._chunks):
            end = known + len(chunk.natives)
            if not is_beginning(chunk.natives, natives[known:end]) or not chunk.witness.is_unchanged():
                del self._chunks[number:]
                break
            known = end
        return known

    def _tell_format(self, natives: list[object], known: int, named: FormatName | None) -> FormatName:
        if named is not None:
            return named
        if self._format is not None and self._decided_by is not None and self._decided_by <= known:
            return self._format
        name, self._decided_by = decide_format(natives)
        return name

    def _read_on(
        self, natives: list[object], known: int, provider: Provider, count_tokens: TokenCounter
    ) -> list[Message]:
        made: list[Message] = []
        is_watched = True
        while known < len(natives):
            chunk = self._chunks[-1] if self._chunks and len(self._chunks[-1].natives) < _CHUNK else _Chunk()
            news = natives[known : known + _CHUNK - len(chunk.natives)]
            # What changes while it is read is found changed the next time.
            is_watched = is_watched and chunk.witness.add_messages(news)
            read = [provider.read_message(native, index, count_tokens) for index, native in enumerate(news, known)]
            if is_watched:
                if not chunk.natives:
                    self._chunks.append(chunk)
                chunk.natives += news
                chunk.messages += read
            made += read
            known += len(news)
        return made


class Check:
    """What is wrong with a list that grows, by its provider's rules."""

    def __init__(self, format: FormatName) -> None:  # noqa: A002 - the word for it
        self.has_compacted = False
        """Whether it holds what the provider has compacted."""
        self._format = format
        self._rules: TurnRules = providers.PROVIDERS[format].make_rules()
        self._messages: Sequence[Message] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, with the index of the message."""
        return self._rules.problems()

    def is_beginning_of(self, conversation: Conversation) -> bool:
        """Tell whether what was checked is the beginning of a list."""
        return self._format == conversation.format and is_beginning(self._messages, conversation.messages)

    def read_on(self, messages: Sequence[Message]) -> None:
        """Check the messages of a list that were not checked yet."""
        known = len(self._messages)
        news = messages[known:]
        self._rules.read_on(news, known)
        self.has_compacted = self.has_compacted or providers.find_compacted(news) >= 0
        self._messages = messages


class Memories:
    """
    The memories of conversations, the newest ones.

    A memory is taken out while its conversation is compacted: two threads never have the same.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int], tuple[Memory, int, int]] = OrderedDict()
        self._messages = self._characters = 0
        self._lock = ReentrantLock()
        reset_in_child(self._forget_all)

    def take_memory(self, session: str, messages: Sequence[object]) -> Memory:
        """Take out the memory of a conversation, empty if there is none."""
        with self._lock:
            return self._pop_memory((session, id(next(iter(messages))))) or Memory()

    def put_memory(self, session: str, memory: Memory) -> None:
        """Keep a memory, and forget the oldest ones beyond the limits."""
        size, characters = memory.size, memory.characters
        if not size:
            return
        # While it is remembered, its first message is held, and no other has this identity.
        key = session, id(memory.first)
        with self._lock:
            self._pop_memory(key)
            self._kept[key] = memory, size, characters
            self._messages += size
            self._characters += characters
            while self._messages > MAX_MESSAGES or self._characters > MAX_CHARACTERS:
                self._pop_memory(next(iter(self._kept)))

    def _pop_memory(self, key: tuple[str, int]) -> Memory | None:
        found = self._kept.pop(key, None)
        if found is None:
            return None
        memory, size, characters = found
        self._messages -= size
        self._characters -= characters
        return memory

    def _forget_all(self) -> None:
        # Another thread may have held the lock at the fork.
        self._lock = ReentrantLock()
        self._kept.clear()
        self._messages = self._characters = 0
