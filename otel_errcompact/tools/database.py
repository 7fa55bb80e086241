"""Errors of dbt and of databases' shells: PostgreSQL, MySQL, SQLite, Oracle, SQL Server, MongoDB, Redis."""

from __future__ import annotations

from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING, Final

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.format import Format, Hint
from otel_errcompact.extract.grammar import (
    Command,
    Facts,
    Found,
    Lines,
    Members,
    Rules,
    Text,
    find,
    find_all,
    form,
    place_of,
)
from otel_errcompact.extract.members import MAX_MEMBERS, Member, facts_of_members
from otel_errcompact.extract.statements import strip_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


# --- PostgreSQL ---
_POSTGRES: Final = form(
    r"(?:psql:(?P<script>[^:]{1,400}):{line}: |.{0,120}?(?:\]|server:) )?(?:ERROR|FATAL"
    r"|PANIC):  (?:(?P<state>[0-9A-Z]{5}): )?(?P<message>\S.{0,1000})"
)
_CLIENT: Final = form(
    r"(?:psql|pg_\w{1,30}|createdb|dropdb|createuser|vacuumdb|reindexdb): (?:error|fatal): (?P<message>\S.{0,1000})"
)
_CLIENTS: Final = ("psql: ", "pg_", "createdb: ", "dropdb: ", "createuser: ", "vacuumdb: ", "reindexdb: ")
_SEVERITIES: Final = ("ERROR:  ", "FATAL:  ", "PANIC:  ")
_CONDITIONS: Final = Rules(r"""
UndefinedTable             relation ".{1,200}" does not exist|table ".{1,200}" does not exist
UndefinedColumn            column .{1,200} does not exist
UndefinedFunction          (?:function|operator|aggregate|procedure) .{1,400} does not exist|operator does not exist
UndefinedObject            (?:type|schema|role|extension|index|constraint) .{1,200} does not exist
InvalidCatalogName         .{0,200}database ".{1,100}" does not exist
SyntaxError                syntax error|unterminated quoted
UniqueViolation            duplicate key value violates unique constraint
ForeignKeyViolation        .{0,300}violates foreign key constraint
CheckViolation             .{0,300}violates check constraint
NotNullViolation           null value in column .{1,300} violates not-null constraint
DuplicateObject            (?:relation|schema|database|role|column|type) .{1,300} already exists
InFailedSqlTransaction     current transaction is aborted
DeadlockDetected           deadlock detected
SerializationFailure       could not serialize access
QueryCanceled              canceling statement due to
InsufficientPrivilege      permission denied for|must be (?:owner|superuser)
InvalidTextRepresentation  invalid input (?:syntax|value)
StringDataRightTruncation  value too long for type
DivisionByZero             division by zero
AmbiguousColumn            column reference .{1,200} is ambiguous
UndefinedTable             missing FROM-clause entry|invalid reference to FROM-clause
InvalidAuthorization       (?:.{0,200}password authentication failed|.{0,200}no pg_hba\.conf entry
    |.{0,200}Peer authentication)
TooManyConnections         .{0,300}(?:too many clients|remaining connection slots)
ECONNREFUSED               (?:connection to server|could not connect to server).{0,400}(?:Connection refused
    |No such file)
ConnectionFailure          connection to server|could not (?:connect|translate host)
""")
"""How messages of PostgreSQL begin, and the names of their conditions in its manual."""

_FIELD: Final = form(
    r"(?P<name>LINE {number}|DETAIL|HINT|CONTEXT|QUERY|WHERE|STATEMENT|LOCATION|[A-Z]{4,10} NAME): {1,3}(?P<value>\S.*)"
)
_SOURCES: Final = ("LINE", "QUERY", "STATEMENT")
_KNOWN: Final = ("LOCATION", "SCHEMA", "TABLE", "COLUMN", "CONSTRAINT", "DATATYPE")
"""Fields that repeat the message, or name a place in the server."""

_CONTINUED: Final = ("DETAIL", "CONTEXT", "WHERE")
"""Fields of more than one line: who waits for whom, and who called whom."""

_MAX_CONTINUED: Final = 8
_CONSEQUENCE: Final = "InFailedSqlTransaction"

# --- dbt ---
_DBT_ENDS: Final = form(r"(?:\[ERROR\]: )?Encountered an error:$|Completed with [1-9][0-9]{0,6} errors?\b")
_DBT_HEAD: Final = form(
    r"(?:\[ERROR\]:|(?P<type>(?:[A-Z][a-z]{1,20} ){1,2}Error|Failure))"
    r"(?: in [a-z_ ]{1,30} (?P<name>[\w.]{1,300})(?: \((?P<file>[^()]{1,400})\))?)?$"
)
_DBT_FILE: Final = form(r"Model '[^']{1,300}' \((?P<file>[^()]{1,400})\)")

# --- others ---
_MYSQL: Final = Rules(
    r"""
ERROR {code}{state}  (?:(?:mysql|mariadb)[\w-]{0,20}: (?:Got )?)?(?:ERROR |[Ee]rror: )(?P<code>[0-9]{4})
    (?P<state> \(\w{5}\))?(?: at line {line})?: {message}
    > at line {line}
""",
    begins=("ERROR ", "Error: ", "error: ", "mysql", "mariadb"),
)
_MYSQL_SYNTAX: Final = form(r"You have an error in your SQL syntax; .{1,200}? (?=near ')")
_RULE: Final = "--------------"
_SQLITE: Final = Rules(
    r"""
SQLiteError  (?:(?:Parse|Runtime) error(?: near line {line})?: |Error: (?:in prepare, |stepping,[ ]
    |near line (?P<at>{number}): )(?:in prepare, |stepping, )?|Error: (?=no such (?:table|column|function)
    |database is locked|near "
    |unable to open database|(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint|file is not a database))
    (?P<message>.{1,600}?)(?: \({number}\))?$
    > near line {line}
    > near line {at}
""",
    begins=("Error: ", "Parse error", "Runtime error"),
)
_ORACLE: Final = form(r"(?P<code>(?:ORA|PLS|SP2|TNS|IMP|EXP|SQL)-[0-9]{4,5}): {message}")
_ORACLE_AT: Final = form(r"at \"?(?P<function>[\w.$]{1,200})\"?, line {line}")
_OTHERS: Final = Rules(
    r"""
Msg {code}       Msg (?P<code>{number}), Level {number}, State {number}(?:, Server [^,]{1,200})?
    (?:, Procedure (?P<function>[^,]{1,200}))?, Line {line}\n(?P<message>.*)
    > at line {line}
{type}{code}     (?:Uncaught:? )?(?P<type>Mongo\w{0,40}Error)(?P<code>\[\w{1,60}\])?: (?P<message>.{1,600}?)
    (?:,? dup key: (?P<values>.{1,400}))?\n
    > {values}
ConnectionError  (?P<message>Could not connect to Redis at .{1,200}: .{1,100})\n
{code}           (?:\(error\) )?-?(?P<code>ERR|WRONGTYPE|MOVED|ASK|NOAUTH|WRONGPASS|NOPERM|READONLY|OOM|MISCONF
    |CLUSTERDOWN|CROSSSLOT|TRYAGAIN|MASTERDOWN|NOSCRIPT|BUSY|BUSYKEY|BUSYGROUP|NOGROUP|LOADING|EXECABORT)[ ]
    (?P<message>.+)
""",
)
"""What SQL Server, MongoDB and Redis say in a line, with the next one."""


def read(text: Text) -> Facts | None:
    """Return the facts of what a database refused; values are kept apart from names and constraints."""
    lines, body = text.lines, text.body
    for marks, reader in _READERS:
        members = list(islice(reader(lines), MAX_MEMBERS)) if any(mark in body for mark in marks) else []
        if members:
            return facts_of_members(members, unit="statement", first_is_root=True)
    return None


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


def _read_postgres(lines: Lines) -> Members:
    # Yield the errors of PostgreSQL, without those that only say that an earlier one has ended the transaction.
    stated = ((number, found) for number, line in enumerate(lines) if (found := _read_statement(line)))
    members = [_build_member(found, lines[at + 1 : at + 12]) for at, found in islice(stated, MAX_MEMBERS)]
    root = [member for member in members if member.type != _CONSEQUENCE]
    yield from root or members[:1]


def _read_statement(line: str) -> Found | None:
    found = _POSTGRES.match(line) if ":  " in line else None
    return _CLIENT.match(line) if found is None and line.startswith(_CLIENTS) else found


def _build_member(found: Found, after: Lines) -> Member:
    fields = found.groupdict()
    message = found["message"]
    if message.endswith(":") and after:
        message = f"{message} {after[0].strip()}"
    kind = _CONDITIONS.type_of(message) or "PostgresError"
    place = Location(file=fields["script"], line=int(fields["line"])) if fields.get("script") else NOWHERE
    return Member(fields.get("state") or kind, message, place, details=tuple(_read_fields(after)))


def _read_fields(after: Lines) -> Iterator[str]:
    # Yield what PostgreSQL adds to an error.
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


def _read_dbt(lines: Lines) -> Members:
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


def _read_mysql(lines: Lines) -> Members:
    for number, line in enumerate(lines):
        stated = _MYSQL.read(line)
        if stated is not None:
            # What the manual is for, everybody knows.
            cause = _MYSQL_SYNTAX.sub("syntax error ", stated.cause)
            yield stated._replace(cause=cause, details=(*_find_echo(lines[:number]), *stated.details))


def _find_echo(before: Lines) -> Iterator[str]:
    said = [line for line in before if line]
    if said and said[-1] == _RULE:
        statement = list(takewhile(lambda line: line != _RULE, reversed(said[:-1])))
        yield f"> {' '.join(map(str.strip, reversed(statement)))}"


def _read_oracle(lines: Lines) -> Members:
    # Yield the first code of Oracle's stack, with the innermost place.
    found = find_all(_ORACLE, lines)
    place = find(_ORACLE_AT, (stated["message"] for stated in found))
    stated = [match for match in found if match["code"] != "ORA-06512"]
    if stated:
        at = (f"at line {place['line']}",) if place else ()
        others = (f"{match['code']}: {match['message']}" for match in stated[1:3])
        key = " | ".join((stated[0]["message"], *(match["code"] for match in stated[1:])))
        yield Member(stated[0]["code"], stated[0]["message"], place_of(place), details=(*at, *others), key=key)


def _read_others(lines: Lines) -> Members:
    return _OTHERS.read_all(map("\n".join, pairwise((*lines, ""))))


_READERS: Final[tuple[tuple[tuple[str, ...], Callable[[Lines], Members]], ...]] = (
    (("Completed with ", "Encountered an error:", "Failure in test "), _read_dbt),
    ((*_SEVERITIES, ": error: "), _read_postgres),
    (("ERROR ", "rror: "), _read_mysql),
    (("rror",), _SQLITE.read_all),
    (("ORA-", "SP2-"), _read_oracle),
    (("",), _read_others),
)
"""The readers, and the strings of which a text of each holds at least one."""

FORMAT: Final = Format(
    name="database",
    read=read,
    markers=("ERR", "Failure in test ", "rror", "FATAL:  ", "Msg ", "ORA-", "Redis", "WRONGTYPE", "NOAUTH ", "MOVED "),
    commands=(
        Command("psql", scopes="-d -h -f", texts="-U -p", speaks="psql pg_dump"),
        Command("pg_isready", prints="", waits=(1, 2)),
        Command("mysql", scopes="-h", texts="-u -p", speaks="mysql"),
        Command("dbt", subcommands="*"),
        Command("mariadb, sqlite3, redis-cli, duckdb, mongosh, sqlcmd", speaks="sqlite3 redis"),
        Command("clickhouse-client, cqlsh, sqlplus, liquibase, flyway"),
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
