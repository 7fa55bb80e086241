"""
Runs in Redis or Valkey: many machines.

A change is two scripts, each of which the server runs as one step: one takes the run's lock and returns what is new,
the other writes if the lock is still held. The keys of a run share a hash tag, so that one node of a cluster has them.
"""

from __future__ import annotations

import hashlib
import random
import time
import uuid
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from otel_errcompact.history.stores.parts import LostChangeError, Parts, StoreAwayError
from otel_errcompact.runtime.forks import FORKS_WAIT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from redis import Redis

LEASE_MS: Final = 3_000
"""How long a change may take before another process takes the run over: the first one was killed, or hangs."""

LONGEST_ANSWER_S: Final = 1.0
"""How long the server may take to answer before it counts as away."""

FIRST_SLEEP_S: Final = 0.000_2
LAST_SLEEP_S: Final = 0.004
"""Between two tries to get the lock of a run."""

# KEYS of a run: a hash of its parts, with its `version` and the newest commit `by:<process>` of each process; the lock;
# and the names of the parts by the version that wrote them.
_NEW: Final = """
local function new(known)
  local version = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
  if version == 0 or version == known then return {version} end
  if version < known then known = 0 end
  local answer = {version}
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], string.format('(%.0f', known), '+inf')) do
    answer[#answer + 1] = name
    answer[#answer + 1] = redis.call('HGET', KEYS[1], 'p:' .. name)
  end
  return answer
end
"""
READ: Final = f"{_NEW}\nreturn new(tonumber(ARGV[1]))"
BEGIN: Final = f"""{_NEW}
if redis.call('GET', KEYS[2]) ~= ARGV[2] and not redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then
  return false
end
return new(tonumber(ARGV[1]))
"""
COMMIT: Final = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or 0)
if version ~= tonumber(ARGV[2]) then return 0 end
local text = string.format('%.0f', math.max(version + 1, tonumber(ARGV[3])))
redis.call('HSET', KEYS[1], 'version', text, 'by:' .. ARGV[5], ARGV[6])
for at = 7, #ARGV, 2 do
  if ARGV[at + 1] == '' then
    redis.call('HDEL', KEYS[1], 'p:' .. ARGV[at])
    redis.call('ZREM', KEYS[3], ARGV[at])
  else
    redis.call('HSET', KEYS[1], 'p:' .. ARGV[at], ARGV[at + 1])
    redis.call('ZADD', KEYS[3], text, ARGV[at])
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
redis.call('DEL', KEYS[2])
return text
"""
CANCEL: Final = "if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end"
REMOVE: Final = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return 1
"""


class RedisBackend:
    """
    Runs in Redis or Valkey.

    Args:
        url: As redis-py takes it: `redis://`, `rediss://`, `unix://`.
        name: The same without a password, for messages.
        namespace: What all keys begin with.
        expire_s: Seconds after which an unchanged run is forgotten.
        wait_s: Seconds that a change waits for those of others: more than `LEASE_MS`, to outlast one whose process was
            killed.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        namespace: str,
        expire_s: float,
        wait_s: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name: Final = name
        self._url = url
        self._prefix: Final = f"{namespace}:1:"  # with the form of what stands there
        self._expire_ms = int(expire_s * 1_000)
        self._wait_s = wait_s
        self._clock = clock
        self._left: list[object] = []
        self._client: Redis | None = None
        self._token = ""
        self._base = 0
        """The version of the run whose change is open, at its begin."""

    def begin(self, run_id: str, known: int) -> Parts:
        """Open a change, which locks the run until it ends."""
        self._connect_to_server()
        until, sleep = time.monotonic() + self._wait_s, FIRST_SLEEP_S
        self._token = uuid.uuid4().hex
        while True:
            answer = self._take_run_lock(run_id, known)
            if answer is not None:
                parts = _read_parts(answer)
                self._base = parts.version
                return parts
            if time.monotonic() >= until:
                raise StoreAwayError(f"run {run_id} has been locked for {self._wait_s:g} seconds")
            time.sleep(sleep * random.uniform(0.5, 1.5))  # noqa: S311 - so that those who wait do not meet again
            sleep = min(1.5 * sleep, LAST_SLEEP_S)

    def _take_run_lock(self, run_id: str, known: int) -> list[Any] | None:
        try:
            answer: list[Any] | None = self._run_script(BEGIN, run_id, known, self._token, LEASE_MS)
        except StoreAwayError:
            raise
        except BaseException:  # an interrupt: whether the server has given the lock is not known
            with suppress(StoreAwayError):
                self._run_script(CANCEL, run_id, self._token)
            raise
        return answer

    def commit(self, run_id: str, parts: Mapping[str, str | None], stamp: str) -> int:
        """Write parts, end the change and return the run's new version."""
        process, _, number = stamp.partition(" ")
        flat = [text for name, body in parts.items() for text in (name, body or "")]
        proposed = int(self._clock() * 1_000_000)
        given = (self._token, self._base, proposed, self._expire_ms, process, number, *flat)
        version = int(self._run_script(COMMIT, run_id, *given, may_repeat=False))
        if not version:
            self.cancel(run_id)
            raise LostChangeError(f"run {run_id} was taken over after {LEASE_MS} ms, or has expired")
        return version

    def has_committed(self, run_id: str, stamp: str) -> bool:
        """Return whether a commit was written although its answer was lost."""
        process, _, number = stamp.partition(" ")
        found = self._ask_server(lambda client: client.hget(self._build_keys(run_id)[0], f"by:{process}"))
        return found is not None and int(found) >= int(number)

    def cancel(self, run_id: str) -> None:
        """End the change without writing; raises nothing."""
        if self._token and self._client is not None:
            with suppress(StoreAwayError):
                self._run_script(CANCEL, run_id, self._token)
        self._token = ""

    def remove(self, run_id: str) -> None:
        """Forget the run within its change, and end the change."""
        if not self._run_script(REMOVE, run_id, self._token, may_repeat=False):
            raise LostChangeError(f"run {run_id} was taken over after {LEASE_MS} ms")

    def read(self, run_id: str, known: int) -> Parts:
        """Return the parts newer than `known`, inside a change or not."""
        return _read_parts(self._run_script(READ, run_id, known))

    def may_have_changed(self, run_id: str, known: int) -> bool:  # noqa: ARG002 - to ask costs as much as to read
        """Return true: the server is asked once, by the reading itself."""
        return True

    def run_ids(self) -> tuple[str, ...]:
        """Return the ids of all runs that have not expired."""
        begin, end = (text.encode() for text in self._build_keys("\0")[0].split("\0"))
        pattern = _escape_pattern(begin) + b"*" + _escape_pattern(end)
        keys = self._ask_server(lambda client: list(cast("Any", client).scan_iter(match=pattern, count=1_000)))
        return tuple(sorted(key[len(begin) : -len(end)].decode("utf-8", "replace") for key in keys))

    def leave_to_parent(self) -> None:
        """Let go of what a forked child must not even close."""
        if self._client is not None:
            self._left.append(self._client)
        self._client, self._token = None, ""

    def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _build_keys(self, run_id: str) -> tuple[str, str, str]:
        # What stands in braces decides on the node of a cluster.
        tagged = f"{self._prefix}{{{run_id}}}"
        return f"{tagged}:run", f"{tagged}:lock", f"{tagged}:versions"

    def _run_script(self, script: str, run_id: str, *arguments: object, may_repeat: bool = True) -> Any:
        keys = self._build_keys(run_id)
        question = (len(keys), *keys, *arguments)
        return self._ask_server(lambda client: _evaluate_script(client, script, question), may_repeat=may_repeat)

    def _ask_server(self, question: Callable[[Redis], object], *, may_repeat: bool = True) -> Any:
        # Once more over a new connection, where the old one was closed while nothing was asked.
        was_open = self._client is not None
        client = self._connect_to_server()
        from redis.exceptions import ConnectionError as Disconnected
        from redis.exceptions import RedisError

        try:
            return question(client)
        except (RedisError, OSError) as error:
            self.close()  # a late answer must not be taken for that of the next question
            if was_open and may_repeat and isinstance(error, Disconnected):
                return self._ask_server(question, may_repeat=False)
            raise _describe_error(error) from error
        except BaseException:  # an interrupt in the middle of an answer
            self.close()
            raise

    def _connect_to_server(self) -> Redis:
        if self._client is None:
            self._client = self._open_client()
        return self._client

    def _open_client(self) -> Redis:
        try:
            with FORKS_WAIT:
                from redis import Redis
                from redis.backoff import NoBackoff
                from redis.exceptions import RedisError
                from redis.retry import Retry
        except ImportError as error:
            raise StoreAwayError("it needs the extra redis: pip install 'otel-errcompact[redis]'") from error
        answer_s = min(self._wait_s, LONGEST_ANSWER_S)
        try:
            client: Redis = cast("Any", Redis).from_url(
                self._url,
                socket_timeout=answer_s,
                socket_connect_timeout=answer_s,
                single_connection_client=True,  # one thread asks at a time
                retry=Retry(NoBackoff(), 0),  # a commit whose answer was lost must not be made twice
            )
        except (RedisError, OSError, ValueError) as error:
            raise _describe_error(error) from error
        return client


def _evaluate_script(client: Redis, script: str, question: tuple[object, ...]) -> Any:
    # By the connection itself: what redis-py does around a command takes longer than the command.
    from redis.exceptions import NoScriptError

    connection: Any = client.connection
    try:
        connection.send_command("EVALSHA", _hash_script(script), *question)
        return connection.read_response()
    except NoScriptError:  # the server does not know it yet, or was started again
        connection.send_command("EVAL", script, *question)
        return connection.read_response()


@cache
def _hash_script(script: str) -> str:
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()


def _describe_error(error: Exception) -> StoreAwayError:
    return StoreAwayError(f"{type(error).__name__}: {error}")


def _read_parts(answer: list[Any]) -> Parts:
    version, *rest = answer
    texts = [text.decode() for text in rest]
    return Parts(int(version), dict(zip(texts[::2], texts[1::2], strict=True)))


def _escape_pattern(text: bytes) -> bytes:
    return b"".join(b"\\" + bytes((each,)) if each in b"*?[]\\" else bytes((each,)) for each in text)
