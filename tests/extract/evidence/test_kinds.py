"""What a line is: content, or one of the lines that only surround it."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.evidence.kinds import Kind, kind_of

LINES = {
    Kind.AROUND: (
        *("", "   ", "-----", "^^^^", "======== test session starts ========", "│", "*** Log ***", "$ make"),
        "==> Downloading https://example.com/a-1.2.tgz",
        "[3/9] Linking app",
        "rescript: [1/6] src/Show.ast",
        "section_start:1763861581:upload",
        "##[section]Starting: Finalize Job",
        "Compiling thiserror v1.0.40",
        "Collecting exceptiongroup",
        " 45% |####      | 3.2MB",
        "reading configuration ...",
        "-- Found ZLIB: /usr/lib/libz.so",
        *("Uploaded a.csv", "Successfully installed depot-2.4.1"),
        "50% [=====> ] 2.1 MB/s ETA 3s",
        "npm ERR! For more information, try '--help'.",
        "See the log file /tmp/x.log for details",
        "Please report this bug at https://example.com",
        "Run with --stacktrace option to get the stack trace.",
        "https://example.com/errors/E12",
        "to accept an incorrect (and potentially broken) dependency resolution.",
        "1. loosen the range of package versions you've specified",
        "- hook id: ruff",
        "0 issues.",
        "(pass) adds [0.1 ms]",
        "✓ adds",
        "[ OK ] mounted",
        "PASS src/a.test.ts",
        "Found 0 errors in 3 files",
        "no problems found",
        "INFO: starting",
        "2026-01-02 10:00:00,123 INFO  pool - 0 errors",
        "level=info msg=failed",
        "[debug] cannot happen",
        "I0612 10:00:00.000 main.go:3] x",
    ),
    Kind.FRAME: (
        "    at Object.<anonymous> (/srv/app.js:3:9)",
        '  File "a.py", line 3, in main',
        "#3  0x00007f main () at a.c:3",
        "6. start_thread @ 0x0000000000094ac3",
        "#0      main (file:///a.dart:3:5)",
        "\tfrom a.rb:3:in `each'",
        "lua: a.lua:3: in function 'f'",
        "... 12 more",
        "Stack trace:",
    ),
    Kind.SOURCE: ("12 | x = 1", "> 3 | y"),
    Kind.TRAILER: (
        "exited with status 2",
        "Build failed",
        "Process completed with exit code 1.",
        "Error: command failed with exit code 1",
        "make: *** [Makefile:3: all] Error 2",
        "FAILED",
        "Aborting.",
        "3 errors generated.",
        "✖ 4 problems (4 errors, 0 warnings)",
    ),
    Kind.WARNING: ("WARNING: disk is nearly full", "warning: unused variable", "[WARN] slow"),
    Kind.TELLING: (
        "cannot open device /dev/ttyUSB0",
        "Parsing config failed: unknown key 'a'",
        "│ Error: Invalid value",
        "3 of 7 files were not found",
        "command failed with exit code 1: no such device",
        "Read from remote host: Connection reset by peer",
    ),
    Kind.OTHER: ("reads/a_1.fastq", "size: xl", "wildcards: sample=a", "The following packages depend on it:"),
}


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in LINES.items() for line in lines])
def test_a_line_is_told_by_its_words(kind: Kind, line: str) -> None:
    """Each kind of line has forms that most programs share."""
    assert kind_of(line) is kind


def test_a_count_of_failures_is_no_progress() -> None:
    """Only a count of none is success."""
    assert kind_of("Found 3 errors in a.py") > Kind.AROUND


def test_a_status_that_was_not_expected_is_a_reason() -> None:
    """The status of an answer is compared; that of a program ends its output."""
    assert kind_of("expected response to have status code 201 but got 422") > Kind.TRAILER


def test_progress_that_failed_is_no_progress() -> None:
    """A report that tells of a failure is more than a report."""
    assert kind_of("Uploading failed because the disk is full") is Kind.TELLING
    assert kind_of("Loading a.csv: out of memory") is Kind.TELLING
