"""The cause of a text that no parser reads is chosen among all its lines."""

from __future__ import annotations

import pytest

from otel_errcompact.errors import NOWHERE, Location
from otel_errcompact.extract.evidence.choice import choose_cause, is_vague


def cause(text: str) -> str:
    """Return the chosen cause."""
    chosen = choose_cause(text)
    assert chosen is not None
    return chosen.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 issues found\n✓ lint\ncannot open disk sda1\nBuild failed", "cannot open disk sda1"),
        (
            "Downloading errors-0.9.tgz\n[1/2] Loading error-chain...\nchecksum mismatch for a.tgz",
            "checksum mismatch for a.tgz",
        ),
        ("error:\n\n    unknown region 'x'\nexited with status 3", "unknown region 'x'"),
        ("Unhandled exception:\n=====\nDisk is full: not enough space", "Disk is full: not enough space"),
        ("ERROR: job failed\nno such table: users", "no such table: users"),
        ("warning: unused x\nunknown key 'a'", "unknown key 'a'"),
        ("Manifest not found, using defaults\nunknown key 'a'", "unknown key 'a'"),
        ("cannot deploy\ncaused by: no answer\n  caused by: unknown host db-3", "cannot deploy: unknown host db-3"),
        ("cannot deploy\nsee above\ncaused by:\n  unknown host db-3", "cannot deploy: unknown host db-3"),
        ("error: invalid plan\ncaused by:\n  unknown host db-3", "invalid plan: unknown host db-3"),
        (
            'Migration V7 failed\n-----\nState : 42P01\nMessage : ERROR: relation "o" does not exist',
            'Migration V7 failed: relation "o" does not exist',
        ),
        (
            "Error parsing a.md:\nYAML exception:\nmapping values are not allowed",
            "Error parsing a.md: YAML exception: mapping values are not allowed",
        ),
        ("a.v:12: unknown name CFG\na.v:9: type of CFG unknown", "a.v:12: unknown name CFG"),
        ("! Undefined control sequence.\nl.42 We see \\foo", "! Undefined control sequence: l.42 We see \\foo"),
        ("Fehler: /srv/a.csv: nicht gefunden\nAbbruch", "/srv/a.csv: nicht gefunden"),
        ("连接成功\n[错误] E2041 无法删除 用户表", "E2041 无法删除 用户表"),
        ('nginx: [warn] old, ignored\nnginx: [emerg] unknown directive "p"', 'nginx: unknown directive "p"'),
        ("Build failed\nexited with status 2", "Build failed"),
    ],
)
def test_the_cause_is_chosen(text: str, message: str) -> None:
    """A reason in a strict form, a reason, a bare failure, a warning: the first of the best is the cause."""
    assert cause(text) == message


def test_no_line_of_content() -> None:
    """Progress and rules state no cause."""
    assert choose_cause("=====\n[1/2] Loading ...\n") is None
    assert choose_cause("") is None


def test_items_of_a_list_count_for_the_key() -> None:
    """The other items below a heading tell one failure from another."""
    chosen = choose_cause("Invalid settings:\n  - port: must be a number\n  - host: is missing\n\nbye")
    assert chosen is not None
    assert chosen.message == "Invalid settings: port: must be a number"
    assert chosen.items == ("- host: is missing",)
    assert chosen.key.endswith(" | - host: is missing")


def test_statements_side_by_side_are_one_list() -> None:
    """Reasons that stand below each other count for the key, with lines of their own between them."""
    chosen = choose_cause("a: 'x' is too long\n   in b\nc: 0 is less than the minimum\nbye")
    assert chosen is not None
    assert chosen.items == ("c: 0 is less than the minimum",)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.conf:14: unknown key 'x'", Location(file="a.conf", line=14)),
        ("unknown key 'x' at line 3 of conf/a.toml", Location(file="conf/a.toml", line=3)),
        ("unknown key 'x' in a.toml(7)", Location(file="a.toml", line=7)),
        ("unknown key\n  --> a.rs, line 9", Location(file="a.rs", line=9)),
        ("cannot reach db.internal:5432, refused", NOWHERE),
        ("cannot reach https://a.b/c.d:443, refused", NOWHERE),
        ("/tmp/tmpab12cd.py:3: unknown name", NOWHERE),
    ],
)
def test_the_place_stands_with_the_cause(text: str, place: Location) -> None:
    """Ports of hosts are no lines, and files written for one call are no places."""
    chosen = choose_cause(text)
    assert chosen is not None
    assert chosen.place == place


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("", True),
        ("job failed", True),
        ("cabal: Failed to build x", True),
    ],
)
def test_vague_messages(message: str, *, expected: bool) -> None:
    """A message that only says that something failed gives no reason."""
    assert is_vague(message) is expected
    assert not is_vague("cannot read a: no such file")


def test_an_indented_item_belongs_to_its_list() -> None:
    """Items above and below a chosen item count for the key, whatever their words."""
    chosen = choose_cause("Import of lamp.fbx:\n\n  mesh: 3 polygons\n  texture a.png not found\n  bone: 5 influences")
    assert chosen is not None
    assert chosen.items == ("mesh: 3 polygons", "bone: 5 influences")


def test_rows_of_a_table_are_a_list() -> None:
    """Numbers that open the rows stand to the right; rows are as deep all the same."""
    table = (
        " row | column | value | problem\n-----+--------+-------+--------\n"
        "   4 | ean | 41 | must have 8 digits\n 203 | weight | -1 | must not be negative"
    )
    chosen = choose_cause(table)
    assert chosen is not None
    assert chosen.message == "4 | ean | 41 | must have 8 digits"
    assert chosen.items == ("203 | weight | -1 | must not be negative",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("starting\nE2041: 用户表 外键", "E2041: 用户表 外键"),
        ("cannot load\ncaused by:\n  no such table x", "cannot load: no such table x"),
        ("job failed\ncaused by:\n", "job failed"),
        ("cannot load\ncaused by: cannot open\nreason: no such table x", "cannot load: cannot open: no such table x"),
    ],
)
def test_codes_and_labels(text: str, message: str) -> None:
    """A code is a reason in any language; a label without content and a bare failure are none."""
    assert cause(text) == message


def test_a_label_alone_in_its_line_announces_the_cause():
    """What stands below an empty label is the cause that it names."""
    found = choose_cause("error: deploy failed\n  at step 3\nCaused by:\n  no route to host db")
    assert found is not None
    assert found.message.endswith("no route to host db")


def test_a_text_that_stands_to_the_right_is_no_list() -> None:
    """Items have a heading that stands less deep."""
    chosen = choose_cause("  Task: upload\n  Version: 2\n  the wheel already exists")
    assert chosen is not None
    assert (chosen.message, chosen.items) == ("the wheel already exists", ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            " > git rev-parse --is-inside # timeout=10\nsigner: Chain not found for: depot\ndone with it",
            "signer: Chain not found for: depot",
        ),
        ("+ ./deploy.sh --fail-on-error\nno route to the registry", "no route to the registry"),
        ("WARNING  Error during upload.\nERROR    400 Bad Request\nbye", "400 Bad Request"),
        ("SHA256:4mQ0pPfvC7r1mZ9E2xKqT0nB8sVhYc3w.\nthe key is not the known one", "the key is not the known one"),
        ("ORA-00942: no such table\nb", "ORA-00942: no such table"),
    ],
)
def test_what_surrounds_a_cause_is_none(text: str, message: str) -> None:
    """The words of a repeated command, a warning above the error, and a checksum say nothing of the cause."""
    chosen = choose_cause(text)
    assert chosen is not None
    assert chosen.message == message
