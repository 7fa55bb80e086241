"""A text that no format has read is told by one of its lines."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.evidence.choice import choose_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0 issues found\n✓ lint\ncannot open disk sda1\nBuild failed", "cannot open disk sda1"),
        (
            "Downloading a-0.9.tgz\n[1/2] Loading chain...\nchecksum mismatch for a.tgz",
            "checksum mismatch for a.tgz",
        ),
        ("Unhandled exception:\n=====\nDisk is full: not enough space", "Disk is full: not enough space"),
        ("warning: unused x\nunknown key 'a'", "unknown key 'a'"),
        ("a.v:12: unknown name CFG\na.v:9: type of CFG unknown", "a.v:12: unknown name CFG"),
        ("Fehler: /srv/a.csv: nicht gefunden\nAbbruch", "Fehler: /srv/a.csv: nicht gefunden"),
        ("连接成功\n[错误] E2041 无法删除 用户表", "[错误] E2041 无法删除 用户表"),
        ("Build failed\nexited with status 2", "Build failed"),
        ("WARNING  Error during upload.\nERROR    400 Bad Request\nbye", "ERROR    400 Bad Request"),
        ("a\n" * 2_000 + "cannot open disk", "cannot open disk"),
        ("all is well\nreally", "all is well"),
    ],
)
def test_the_line_is_chosen(text: str, line: str) -> None:
    """The first line that tells of a failure, else one of content: no progress, echo, rule or empty closing."""
    number = choose_line(text)
    assert number is not None
    assert text.split("\n")[number] == line


@pytest.mark.parametrize("text", ["=====\n[1/2] Loading ...\n", ""])
def test_no_line_of_content(text: str) -> None:
    """Progress and rules tell nothing."""
    assert choose_line(text) is None
