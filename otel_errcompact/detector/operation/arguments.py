"""Targets that the arguments of a call name."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from otel_errcompact.detector.operation.sql import tables_in
from otel_errcompact.detector.operation.targets import MAX_TARGET, bound_targets, clean_target
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_FIELDS: Final = 32
MAX_FREE: Final = 1_000
"""Characters beyond which the value of an argument is free text, whatever its name."""

_WORD_OF_NAME: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_THINGS: Final = frozenset(
    {
        "account", "address", "alias", "app", "application", "article", "asset", "bank", "booking", "branch",
        "bucket", "calendar", "card", "cell", "channel", "chat", "city", "cluster", "collection", "column", "commit",
        "company", "component", "contact", "container", "contract", "conversation", "country", "coupon", "customer",
        "dashboard", "database", "dataset", "datasource", "db", "deployment", "dest", "destination", "device", "dir",
        "directory", "doc", "document", "domain", "dst", "email", "employee", "endpoint", "entity", "environment",
        "event", "file", "filename", "filepath", "flight", "folder", "from", "group", "guid", "handle", "host",
        "hostname", "href", "iban", "id", "identifier", "image", "index", "instance", "invoice", "isbn", "issue",
        "item", "job", "key", "label", "link", "list", "location", "machine", "member", "milestone", "model",
        "module", "name", "namespace", "node", "notebook", "number", "object", "order", "org", "organization",
        "origin", "owner", "package", "parent", "path", "patient", "payee", "person", "phone", "pid", "pipeline",
        "place", "playlist", "plugin", "pod", "policy", "port", "post", "process", "product", "profile", "project",
        "pull", "queue", "receiver", "recipient", "record", "ref", "region", "release", "repo", "repository",
        "reservation", "resource", "room", "route", "row", "run", "schema", "sender", "sensor", "server", "service",
        "session", "sha", "sheet", "shipment", "shop", "site", "sku", "slug", "source", "src", "stack", "station",
        "store", "subject", "subscription", "supplier", "symbol", "table", "tag", "task", "team", "tenant",
        "terminal", "test", "thread", "ticker", "ticket", "title", "to", "topic", "track", "transaction", "upload",
        "uri", "url", "user", "username", "uuid", "vendor", "video", "view", "volume", "warehouse", "website",
        "worker", "workflow", "workspace", "zone",
    }
)  # fmt: skip
"""Nouns that name a thing where they are the last word of an argument's name."""

_SECRETS: Final = frozenset({"api", "secret", "access", "private", "auth", "encryption", "signing"})
"""Words before `key` or `id` that make it a secret."""

_DIRECTIONS: Final = frozenset(
    {"from", "to", "source", "src", "destination", "dest", "dst", "origin", "old", "new", "base", "head", "sender",
     "recipient", "receiver"}
)  # fmt: skip
"""Words of arguments that two things may be swapped between."""

_SESSIONS: Final = frozenset({"session", "terminal", "process", "pid", "tty", "pane", "window", "shell", "job", "tab"})
"""Words for a session that a command runs in, where a tool holds several."""

_SQL_ARGUMENTS: Final = frozenset({"query", "sql", "statement", "queries", "statements"})


def named_targets(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Return the targets that arguments hold, by the arguments' names."""
    found: list[str] = []
    directed: list[tuple[str, str]] = []
    _collect_targets(arguments.items(), found, directed)
    if not found and not directed:
        _collect_targets(_fields_below(arguments), found, directed)
    for name, text in directed:
        found.append(f"{name}={text}" if len(directed) > 1 else text)
    return bound_targets(found)


def session_targets(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the sessions, terminals and processes that arguments name."""
    for name, value in islice(arguments.items(), MAX_FIELDS):
        if _is_session(name) and value is not None and not isinstance(value, bool) and isinstance(value, (str, int)):
            yield f"{name}={value}"[:MAX_TARGET]


@lru_cache(maxsize=1_024)
def _is_session(name: str) -> bool:
    return any(word.lower() in _SESSIONS for word in _WORD_OF_NAME.findall(name))


@lru_cache(maxsize=1_024)
def _role_of(name: str) -> str:
    if name.lower() in _SQL_ARGUMENTS:
        return "sql"
    words = [word.lower() for word in _WORD_OF_NAME.findall(name)]
    if not words:
        return ""
    last = words[-1]
    singular = last.removesuffix("s") if last not in _THINGS else last
    if last.endswith(("ies", "sses", "xes", "ches")):
        singular = f"{last[:-3]}y" if last.endswith("ies") else last[:-2]
    if singular not in _THINGS or (singular in {"key", "id"} and not _SECRETS.isdisjoint(words[:-1])):
        return ""
    return "thing" if _DIRECTIONS.isdisjoint(words) else "direction"


def _collect_targets(fields: Iterable[tuple[str, object]], found: list[str], directed: list[tuple[str, str]]) -> None:
    for name, value in islice(fields, MAX_FIELDS):
        role = _role_of(name) if value is not None and type(name) is str and len(name) <= MAX_TARGET else ""
        if not role:
            continue
        if role == "sql":
            found.extend(tables_in(value) if isinstance(value, str) else ())
            continue
        values = cast("Sequence[object]", value) if type(value) in {list, tuple} else (value,)
        for text in filter(None, map(_scalar_target, values[:MAX_FIELDS])):
            if role == "direction":
                directed.append((name, text))
            else:
                found.append(text)


def _fields_below(arguments: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for value in islice(arguments.values(), MAX_FIELDS):
        below = cast("Sequence[object]", value) if type(value) in {list, tuple} else (value,)
        for entry in below[:MAX_FIELDS]:
            if isinstance(entry, dict):
                yield from cast("dict[str, object]", entry).items()


def _scalar_target(value: object) -> str:
    if isinstance(value, str):
        if len(value) > MAX_FREE or "\n" in value:
            return ""
        value = value.strip()
        return clean_target(value) if value else ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) < 1e18 else ""  # noqa: PLR2004 - no id is longer
    return ""
