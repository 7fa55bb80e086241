"""What databases say; Oracle, SQL Server, MongoDB and a cluster of Redis are written by hand."""

# ruff: noqa: E501, W291 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

DBT = """\
12:03:30  Running with dbt=1.7.17
12:03:30  1 of 3 START sql view model demo.broken ........................................ [RUN]
12:03:30  1 of 3 ERROR creating sql view model demo.broken ............................... [ERROR in 0.19s]
12:03:30  2 of 3 SKIP relation demo.carts ................................................ [SKIP]
12:03:30  3 of 3 FAIL 3 not_null_carts_id ................................................ [FAIL 3 in 0.03s]
12:03:30  
12:03:30  Completed with 2 errors and 0 warnings:
12:03:30  
12:03:30    Database Error in model broken (models/broken.sql)
  syntax error at or near "1"
  LINE 2:     select 1 1 1
                       ^
  compiled Code at target/run/shop/models/broken.sql
12:03:30  
12:03:30    Failure in test not_null_carts_id (models/schema.yml)
12:03:30    Got 3 results, configured to fail if != 0
12:03:30  
12:03:30  Done. PASS=0 WARN=0 ERROR=2 SKIP=1 TOTAL=3"""


@pytest.mark.parametrize(
    ("lines", "kind", "location", "cause", "details"),
    [
        pytest.param(
            ('ERROR:  42P01: relation "carts" does not exist', "LINE 1: select * from carts", "                      ^", "LOCATION:  parserOpenTable"),
            "42P01",
            "",
            'relation "carts" does not exist',
            ("> select * from carts",),
            id="psql, verbose",
        ),
        pytest.param(
            ("2026-01-05 10:00:00 UTC [4711] ERROR:  deadlock detected", "DETAIL:  Process 1 waits for ShareLock", "HINT:  See server log."),
            "DeadlockDetected",
            "",
            "deadlock detected",
            ("Process 1 waits for ShareLock", "See server log."),
            id="log of the server",
        ),
        pytest.param(
            ("psql:a.sql:2: ERROR:  current transaction is aborted, commands ignored until end of transaction block",),
            "InFailedSqlTransaction",
            "a.sql:2",
            "current transaction is aborted, commands ignored until end of transaction block",
            (),
            id="head cut off",
        ),
        pytest.param(
            ("pg_dump: error: something else",), "PostgresError", "", "something else", (), id="client of another kind"
        ),
        pytest.param(
            ("pg_restore: error: could not execute query:", "permission denied"),
            "PostgresError",
            "",
            "could not execute query: permission denied",
            (),
            id="message on the next line",
        ),
        pytest.param(
            ("mysqldump: Got error: 1045: Access denied for user 'shop'@'localhost'",),
            "ERROR 1045",
            "",
            "Access denied for user 'shop'@'localhost'",
            (),
            id="mysqldump",
        ),
        pytest.param(
            (
                "ERROR:  40P01: deadlock detected",
                "DETAIL:  Process 11 waits for ShareLock on transaction 7; blocked by process 12.",
                "Process 12 waits for ShareLock on transaction 8; blocked by process 11.",
                "HINT:  See server log for query details.",
                'CONTEXT:  while updating tuple (0,2) in relation "account"',
                "PL/pgSQL function pay(integer) line 4 at SQL statement",
                "",
                "TABLE NAME:  account",
                "ROLLBACK",
            ),
            "40P01",
            "",
            "deadlock detected",
            (
                "Process 11 waits for ShareLock on transaction 7; blocked by process 12.",
                "Process 12 waits for ShareLock on transaction 8; blocked by process 11.",
                "See server log for query details.",
                'while updating tuple (0,2) in relation "account"',
                "PL/pgSQL function pay(integer) line 4 at SQL statement",
            ),
            id="who waits for whom, and who called whom",
        ),
        pytest.param(
            ("ERROR at line 1:", "ORA-00942: table or view does not exist", 'ORA-06512: at "SHOP.REPORT", line 3'),
            "ORA-00942",
            "SHOP.REPORT",
            "table or view does not exist",
            ("at line 3",),
            id="oracle",
        ),
        pytest.param(
            ("ORA-20001: no rate", "ORA-01403: no data found"),
            "ORA-20001",
            "",
            "no rate",
            ("ORA-01403: no data found",),
            id="oracle without a place",
        ),
        pytest.param(
            ("Msg 208, Level 16, State 1, Server db1, Line 3", "Invalid object name 'carts'."),
            "Msg 208",
            "",
            "Invalid object name 'carts'.",
            ("at line 3",),
            id="sql server",
        ),
        pytest.param(
            ("Msg 547, Level 16, State 0, Procedure dbo.pay, Line 7", "The INSERT statement conflicted with the FOREIGN KEY."),
            "Msg 547",
            "dbo.pay",
            "The INSERT statement conflicted with the FOREIGN KEY.",
            ("at line 7",),
            id="procedure of sql server",
        ),
        pytest.param(
            ('MongoServerError: E11000 duplicate key error collection: shop.carts index: mail_1 dup key: { mail: "a@example.org" }',),
            "MongoServerError",
            "",
            "E11000 duplicate key error collection: shop.carts index: mail_1",
            ('{ mail: "a@example.org" }',),
            id="mongodb",
        ),
        pytest.param(
            ("MongoServerError[Unauthorized]: not authorized on shop",),
            "MongoServerError[Unauthorized]",
            "",
            "not authorized on shop",
            (),
            id="mongosh",
        ),
        pytest.param(("(error) MOVED 3999 192.0.2.1:6381",), "MOVED", "", "3999 192.0.2.1:6381", (), id="redis, moved"),
        pytest.param(("NOAUTH Authentication required.",), "NOAUTH", "", "Authentication required.", (), id="redis, password"),
    ],
)  # fmt: skip
def test_facts(lines, kind, location, cause, details):
    """The database's code or the name of the condition is the type; statement, values and advice are details."""
    found = facts(*lines)
    place = found.location.function or str(found.location)
    assert (found.format, found.type, place, found.cause) == ("database", kind, location, cause)
    assert found.details == details


def test_dbt():
    """Of what dbt lists at its end each failed model is a statement, with the file it stands in."""
    found = facts(DBT)
    assert (found.format, found.type, str(found.location)) == ("database", "Database Error", "models/broken.sql")
    assert (found.cause, found.members) == ('syntax error at or near "1"', 2)
    assert found.details == (
        "> LINE 2:     select 1 1 1",
        "compiled Code at target/run/shop/models/broken.sql",
        "Failure at models/schema.yml in not_null_carts_id: Got 3 results, configured to fail if != 0",
    )


@pytest.mark.parametrize(
    ("text", "kind", "location", "cause"),
    [
        pytest.param(
            "10:01:07  Encountered an error:\nRuntime Error\n  Could not find profile named 'shop'",
            "Runtime Error",
            "",
            "Could not find profile named 'shop'",
            id="profile",
        ),
        pytest.param(
            "10:01:07  Encountered an error:\nCompilation Error\n  Model 'model.shop.carts' (models/carts.sql) depends on"
            " a node named 'users' which was not found",
            "Compilation Error",
            "models/carts.sql",
            "Model 'model.shop.carts' (models/carts.sql) depends on a node named 'users' which was not found",
            id="reference",
        ),
        pytest.param(
            "Failure in test unique_carts_id (models/schema.yml)\n  Got 1 result, configured to fail if != 0",
            "Failure",
            "models/schema.yml",
            "Got 1 result, configured to fail if != 0",
            id="end cut off",
        ),
    ],
)
def test_what_stopped_dbt(text, kind, location, cause):
    """Before it runs anything dbt says in two lines what stopped it."""
    found = facts(text)
    assert (found.format, found.type, str(found.location), found.cause) == ("database", kind, location, cause)


def test_statements_that_fail_apart():
    """Statements that fail for reasons of their own are failures of their own."""
    found = facts(
        'psql:a.sql:1: ERROR:  relation "a" does not exist', 'psql:a.sql:2: ERROR:  relation "b" does not exist'
    )
    assert (found.cause, found.tally) == ('relation "a" does not exist', "1 of 2 statements")
    assert found.details == ('UndefinedTable at a.sql:2: relation "b" does not exist',)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ERROR: one space", id="one space"),
        pytest.param("Error: boom", id="any error"),
        pytest.param("ORA-06512: at line 1", id="place without a cause"),
        pytest.param("Msg from the server: ERR is what Redis says", id="prose"),
        pytest.param("a Mongo says\n(error) boom\n- ERR x", id="other marks"),
        pytest.param("a Redis\nerror 1064 is about syntax", id="mention"),
        pytest.param("The log:\nFailure in test harness\nnobody looked at it", id="failure of a harness"),
        pytest.param("Completed with 3 errors\nsee the report", id="end of another program"),
        pytest.param("Failure in test unique_id (models/a.yml)", id="reason cut off"),
        pytest.param("Runtime Error\n  said dbt when it had Encountered an error:", id="prose on dbt"),
    ],
)
def test_other_texts_are_not_taken(text):
    """What no database said is of another format."""
    assert facts(text).format != "database"


@pytest.mark.parametrize(
    ("text", "same", "other"),
    [
        pytest.param(
            'psql:a.sql:{0}: ERROR:  duplicate key value violates unique constraint "{1}"\nDETAIL:  Key (id)=({0}) already exists.',
            (("1", "k"), ("2", "k")),
            ("1", "l"),
            id="constraint",
        ),
        pytest.param("ERROR 1062 (23000) at line {0}: Duplicate entry '{0}' for key '{1}'", (("1", "a"), ("9", "a")), ("1", "b"), id="entry"),
    ],
)  # fmt: skip
def test_key(text, same, other):
    """The key follows names and constraints, and not values."""
    first, second, third = (key(text.format(*values)) for values in (*same, other))
    assert first == second
    assert first != third
