"""Errors of dbt and of databases' shells: PostgreSQL, MySQL, SQLite, Oracle, SQL Server, MongoDB, Redis."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.format import Format, Hint, split_names
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.statements import StatementTable, strip_timestamp
from otel_errcompact.runtime.lazy import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from otel_errcompact.errors import Facts
    from otel_errcompact.extract.text import Text


# --- PostgreSQL ---
_POSTGRES: Final = lazy_pattern(
    r"(?:psql:(?P<script>[^:]{1,400}):(?P<line>[0-9]{1,9}): |.{0,120}?\] )?(?:ERROR|FATAL"
    r"|PANIC):  (?:(?P<state>[0-9A-Z]{5}): )?(?P<message>\S.{0,1000})"
)
_CLIENT: Final = lazy_pattern(
    r"(?:psql|pg_\w{1,30}|createdb|dropdb|createuser|vacuumdb|reindexdb): (?:error"
    r"|fatal): (?P<message>\S.{0,1000})"
)
_CLIENTS: Final = ("psql: ", "pg_", "createdb: ", "dropdb: ", "createuser: ", "vacuumdb: ", "reindexdb: ")
_SEVERITIES: Final = ("ERROR:  ", "FATAL:  ", "PANIC:  ")
_CONDITIONS: Final = StatementTable(
    ("UndefinedTable", r"relation \".{1,200}\" does not exist|table \".{1,200}\" does not exist"),
    ("UndefinedColumn", r"column .{1,200} does not exist"),
    ("UndefinedFunction", r"(?:function|operator|aggregate|procedure) .{1,400} does not exist|operator does not exist"),
    ("UndefinedObject", r"(?:type|schema|role|extension|index|constraint) .{1,200} does not exist"),
    ("InvalidCatalogName", r".{0,200}database \".{1,100}\" does not exist"),
    ("SyntaxError", r"syntax error|unterminated quoted"),
    ("UniqueViolation", r"duplicate key value violates unique constraint"),
    ("ForeignKeyViolation", r".{0,300}violates foreign key constraint"),
    ("CheckViolation", r".{0,300}violates check constraint"),
    ("NotNullViolation", r"null value in column .{1,300} violates not-null constraint"),
    ("DuplicateObject", r"(?:relation|schema|database|role|column|type) .{1,300} already exists"),
    ("InFailedSqlTransaction", r"current transaction is aborted"),
    ("DeadlockDetected", r"deadlock detected"),
    ("SerializationFailure", r"could not serialize access"),
    ("QueryCanceled", r"canceling statement due to"),
    ("InsufficientPrivilege", r"permission denied for|must be (?:owner|superuser)"),
    ("InvalidTextRepresentation", r"invalid input (?:syntax|value)"),
    ("StringDataRightTruncation", r"value too long for type"),
    ("DivisionByZero", r"division by zero"),
    ("AmbiguousColumn", r"column reference .{1,200} is ambiguous"),
    ("UndefinedTable", r"missing FROM-clause entry|invalid reference to FROM-clause"),
    (
        "InvalidAuthorization",
        r"(?:.{0,200}password authentication failed|.{0,200}no pg_hba\.conf entry|.{0,200}Peer authentication)",
    ),
    ("TooManyConnections", r".{0,300}(?:too many clients|remaining connection slots)"),
    (
        "ECONNREFUSED",
        r"(?:connection to server|could not connect to server).{0,400}(?:Connection refused|No such file)",
    ),
    ("ConnectionFailure", r"connection to server|could not (?:connect|translate host)"),
)
"""How messages of PostgreSQL begin, and the names of their conditions in its manual."""

_FIELD: Final = lazy_pattern(
    r"(?P<name>LINE [0-9]{1,9}|DETAIL|HINT|CONTEXT|QUERY|WHERE|STATEMENT|LOCATION|[A-Z]{4,10} NAME)"
    r": {1,3}(?P<value>\S.*)"
)
_SOURCES: Final = ("LINE", "QUERY", "STATEMENT")
_KNOWN: Final = ("LOCATION", "SCHEMA", "TABLE", "COLUMN", "CONSTRAINT", "DATATYPE")
"""Fields that repeat the message, or name a place in the server."""

_CONTINUED: Final = ("DETAIL", "CONTEXT", "WHERE")
"""Fields of more than one line: who waits for whom, and who called whom."""

_MAX_CONTINUED: Final = 8
_CONSEQUENCE: Final = "InFailedSqlTransaction"

# --- dbt ---
_DBT_ENDS: Final = lazy_pattern(r"(?:\[ERROR\]: )?Encountered an error:$|Completed with [1-9][0-9]{0,6} errors?\b")
_DBT_HEAD: Final = lazy_pattern(
    r"(?:\[ERROR\]:|(?P<type>(?:[A-Z][a-z]{1,20} ){1,2}Error|Failure))"
    r"(?: in [a-z_ ]{1,30} (?P<name>[\w.]{1,300})(?: \((?P<file>[^()]{1,400})\))?)?$"
)
_DBT_FILE: Final = lazy_pattern(r"Model '[^']{1,300}' \((?P<file>[^()]{1,400})\)")

# --- others ---
_MYSQL: Final = lazy_pattern(
    r"(?:(?:mysql|mariadb)[\w-]{0,20}: (?:Got )?)?(?:ERROR |[Ee]rror: )(?P<code>[0-9]{4})(?: \((?P<state>\w{5})\))?"
    r"(?: at line (?P<line>[0-9]{1,9}))?: (?P<message>\S.{0,1500})"
)
_MYSQL_STARTS: Final = ("ERROR ", "Error: ", "error: ", "mysql", "mariadb")
_MYSQL_SYNTAX: Final = lazy_pattern(r"You have an error in your SQL syntax; .{1,200}? (?=near ')")
_RULE: Final = "--------------"
_SQLITE: Final = lazy_pattern(
    r"(?:(?:Parse|Runtime) error(?: near line (?P<line>[0-9]{1,9}))?: |Error: (?:in prepare, |stepping, "
    r"|near line (?P<at>[0-9]{1,9}): )(?:in prepare, |stepping, )?|Error: (?=no such (?:table|column|function)"
    r"|database is locked|unable to open database|near \"|UNIQUE constraint|FOREIGN KEY constraint"
    r"|NOT NULL constraint|CHECK constraint|file is not a database))(?P<message>.{1,600}?)(?: \([0-9]{1,4}\))?$"
)
_SQLITE_STARTS: Final = ("Error: ", "Parse error", "Runtime error")
_ORACLE: Final = lazy_pattern(r"(?P<code>(?:ORA|PLS|SP2|TNS|IMP|EXP|SQL)-[0-9]{4,5}): (?P<message>\S.{0,600})")
_ORACLE_AT: Final = lazy_pattern(r"at \"?(?P<function>[\w.$]{1,200})\"?, line (?P<line>[0-9]{1,9})")
_MSSQL: Final = lazy_pattern(
    r"Msg (?P<code>[0-9]{1,9}), Level [0-9]{1,3}, State [0-9]{1,5}(?:, Server [^,]{1,200})?"
    r"(?:, Procedure (?P<procedure>[^,]{1,200}))?, Line (?P<line>[0-9]{1,9})$"
)
_MONGO: Final = lazy_pattern(
    r"(?:Uncaught:? )?(?P<type>Mongo\w{0,40}Error)(?:\[(?P<name>\w{1,60})\])?: "
    r"(?P<message>.{1,600}?)(?:,? dup key: (?P<values>.{1,400}))?$"
)
_REDIS_CODES: Final = tuple(
    f"{code} "
    for code in split_names(
        "ERR, WRONGTYPE, MOVED, ASK, NOAUTH, WRONGPASS, NOPERM, READONLY, OOM, MISCONF, CLUSTERDOWN, "
        "CROSSSLOT, TRYAGAIN, MASTERDOWN, NOSCRIPT, BUSY, BUSYKEY, BUSYGROUP, NOGROUP, LOADING, EXECABORT"
    )
)
_REDIS_STARTS: Final = ("(error) ", "-", *_REDIS_CODES)
_REDIS_DOWN: Final = lazy_pattern(r"(?P<message>Could not connect to Redis at .{1,200}: (?P<reason>.{1,100}))$")


def read(text: Text) -> Facts | None:
    """Return the facts of what a database refused; values are kept apart from names and constraints."""
    lines, body = text.lines, text.body
    for marks, reader in _READERS:
        members = list(islice(reader(lines), MAX_MEMBERS)) if any(mark in body for mark in marks) else []
        if members:
            return facts_of_members(members, unit="statement", first_is_root=True)
    return None


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


def _postgres(lines: Sequence[str]) -> Iterator[Member]:
    """Yield the errors of PostgreSQL, without those that only say that an earlier one has ended the transaction."""
    stated = ((number, found) for number, line in enumerate(lines) if (found := _read_statement(line)))
    members = [_statement(found, lines[at + 1 : at + 12]) for at, found in islice(stated, MAX_MEMBERS)]
    root = [member for member in members if member.type != _CONSEQUENCE]
    yield from root or members[:1]


def _read_statement(line: str) -> re.Match[str] | None:
    found = _POSTGRES.match(line) if ":  " in line else None
    return _CLIENT.match(line) if found is None and line.startswith(_CLIENTS) else found


def _statement(found: re.Match[str], after: Sequence[str]) -> Member:
    fields = found.groupdict()
    message = found["message"]
    if message.endswith(":") and after:
        message = f"{message} {after[0].strip()}"
    kind = _CONDITIONS.type_of(message) or "PostgresError"
    place = Location(file=fields["script"], line=int(fields["line"])) if fields.get("script") else NOWHERE
    return Member(fields.get("state") or kind, message, place, details=tuple(_fields(after)))


def _fields(after: Sequence[str]) -> Iterator[str]:
    """Yield what PostgreSQL adds to an error."""
    name, continued = "", 0
    for line in takewhile(lambda line: not any(mark in line for mark in _SEVERITIES), after):
        found = _FIELD.match(line)
        if found is not None:
            name, continued = found["name"].partition(" ")[0], 0
            if name not in _KNOWN:
                yield f"> {found['value']}" if name in _SOURCES else found["value"]
        elif name in _CONTINUED and line.strip() and continued < _MAX_CONTINUED:
            continued += 1
            yield line.strip()


# --- dbt -------------------------------------------------------------------------------------------------------------


def _dbt(lines: Sequence[str]) -> Iterator[Member]:
    lines = [strip_timestamp(f"{line} ").strip() for line in lines]
    end = next((number for number, line in enumerate(lines) if _DBT_ENDS.match(line)), -1)
    heads = [(number, found) for number in range(end + 1, len(lines)) if (found := _DBT_HEAD.match(lines[number]))]
    heads = [(at, found) for at, found in heads if found["file"] or (end >= 0 and (found["name"] or at == end + 1))]
    for (number, found), after in zip(heads, (*(at for at, _ in heads[1:]), len(lines)), strict=False):
        below = takewhile(lambda line: not line.startswith("Done. PASS="), lines[number + 1 : after])
        said = [line for line in below if line.strip("^- ")]
        if said:
            file = found["file"] or next((at["file"] for line in said if (at := _DBT_FILE.match(line))), "")
            more = (f"> {line}" if line.startswith("LINE ") else line for line in said[1:])
            yield Member(found["type"] or "Failure", said[0], Location(file=file), found["name"] or "", tuple(more))


# --- others ----------------------------------------------------------------------------------------------------------


def _mysql(lines: Sequence[str]) -> Iterator[Member]:
    for number, line in enumerate(lines):
        found = _MYSQL.match(line) if line.startswith(_MYSQL_STARTS) else None
        if found is None:
            continue
        state = f" ({found['state']})" if found["state"] else ""
        at = f"at line {found['line']}" if found["line"] else ""
        statement = _echoed(lines[:number])
        # What the manual is for, everybody knows.
        message = _MYSQL_SYNTAX.sub("syntax error ", found["message"])
        yield Member(f"ERROR {found['code']}{state}", message, details=tuple(filter(None, (statement, at))))


def _echoed(before: Sequence[str]) -> str:
    """Return the statement that the client has echoed between two rules."""
    said = [line for line in before if line]
    if not said or said[-1] != _RULE:
        return ""
    statement = list(takewhile(lambda line: line != _RULE, reversed(said[:-1])))
    return f"> {' '.join(map(str.strip, reversed(statement)))}"


def _sqlite(lines: Sequence[str]) -> Iterator[Member]:
    for line in lines:
        found = _SQLITE.match(line) if line.startswith(_SQLITE_STARTS) else None
        if found is not None:
            at = found["line"] or found["at"]
            yield Member("SQLiteError", found["message"], details=(f"near line {at}",) if at else ())


def _oracle(lines: Sequence[str]) -> Iterator[Member]:
    """Yield the first code of Oracle's stack, with the innermost place."""
    found = [match for line in lines if line[3:4] == "-" and (match := _ORACLE.match(line))]
    place = next((match for stated in found if (match := _ORACLE_AT.match(stated["message"]))), None)
    stated = [match for match in found if match["code"] != "ORA-06512"]
    if stated:
        at = Location(function=place["function"], line=int(place["line"])) if place else NOWHERE
        others = [f"{match['code']}: {match['message']}" for match in stated[1:3]]
        if place is not None:
            others.insert(0, f"at line {place['line']}")
        yield Member(stated[0]["code"], stated[0]["message"], at, details=tuple(others))


def _mssql(lines: Sequence[str]) -> Iterator[Member]:
    for line, message in zip(lines, (*lines[1:], ""), strict=True):
        found = _MSSQL.match(line) if line.startswith("Msg ") else None
        if found is not None:
            place = Location(function=found["procedure"], line=int(found["line"])) if found["procedure"] else NOWHERE
            yield Member(f"Msg {found['code']}", message, place, details=(f"at line {found['line']}",))


def _mongo(lines: Sequence[str]) -> Iterator[Member]:
    for line in lines:
        found = _MONGO.match(line) if "Mongo" in line else None
        if found is not None:
            kind = f"{found['type']}[{found['name']}]" if found["name"] else found["type"]
            yield Member(kind, found["message"], details=(found["values"],) if found["values"] else ())


def _redis(lines: Sequence[str]) -> Iterator[Member]:
    for line in lines:
        refused = _REDIS_DOWN.match(line) if line.startswith("Could not connect to R") else None
        if refused is not None:
            yield Member("ConnectionError", refused["message"])
        if not line.startswith(_REDIS_STARTS):
            continue
        code, _, message = line.removeprefix("(error) ").removeprefix("-").partition(" ")
        if message and f"{code} " in _REDIS_CODES:
            yield Member(code, message)


_READERS: Final[tuple[tuple[tuple[str, ...], Callable[[Sequence[str]], Iterable[Member]]], ...]] = (
    (("Completed with ", "Encountered an error:", "Failure in test "), _dbt),
    ((*_SEVERITIES, ": error: "), _postgres),
    (("ERROR ", "rror: "), _mysql),
    (("rror",), _sqlite),
    (("ORA-", "SP2-"), _oracle),
    (("Msg ",), _mssql),
    (("Mongo",), _mongo),
    (("",), _redis),
)
"""The readers, and the strings of which a text of each holds at least one."""

FORMAT: Final = Format(
    name="database",
    read=read,
    markers=("ERR", "Failure in test ", "rror", "FATAL:  ", "Msg ", "ORA-", "Redis", "WRONGTYPE", "NOAUTH ", "MOVED "),
    programs=split_names(
        "psql, mysql, mariadb, sqlite3, redis-cli, duckdb, mongosh, alembic, dbt, sqlcmd, "
        "clickhouse-client, cqlsh, sqlplus, liquibase, flyway"
    ),
    closings=(
        r"(?:ERROR|FATAL|CRITICAL): {2,4}\S",
        r"(?:[0-9:]{8} {1,4})?(?:Completed with [1-9][0-9]{0,6} errors?\b|Done\. PASS=[0-9 WARN=]{1,30} ERROR=[1-9])",
        r"\(error\) [A-Z]{3,} ",
        (
            r"(?:Parse error|Runtime error|Error)(?: in prepare| near line [0-9]+|: (?:in prepare|near line [0-9]+"
            r"|no such (?:table|column|module)))[^\n]{0,5}"
        ),
        r"Msg [0-9]{1,6}, Level [0-9]",
        r"(?:ORA|SP2|TNS|PLS)-[0-9]{4,5}: ",
        r"Code: [0-9]{1,4}\. DB::Exception",
        (
            r"(?:Catalog|Binder|Pars(?:er|ing)|Conversion|IO|Constraint|Invalid Input|Out of Memory|Database"
            r"|Compilation|Runtime|Dependency|Transaction) Error(?: in \w{1,20} \S{1,100})?(?:: | \(|$)"
        ),
        r"FAILED: (?:Can.t locate|Multiple head|Target database|No )",
        r"psql:[^\n]{0,300}? (?:ERROR|FATAL|error): ",
        r"ERROR [0-9]{4} \([0-9A-Z]{5}\)",
    ),
    hints=(
        Hint(
            "another connection is writing: close it, shorten its transaction, or set a busy time-out",
            ("database is locked",),
            ("sqlite3.OperationalError", "database is locked"),
            is_weak=True,
        ),
    ),
)
