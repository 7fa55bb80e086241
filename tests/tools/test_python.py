"""Python tracebacks as text."""

from __future__ import annotations

import json

import pytest

from otel_errcompact.errors import Facts, Location
from otel_errcompact.extract.stacks.python import HEADER
from tests.extract.reading import facts_as, format_of

facts = facts_as("python")

SIMPLE = """\
Traceback (most recent call last):
  File "/app/main.py", line 9, in <module>
    main()
  File "/app/db.py", line 42, in query
    return rows[name]
           ~~~~^^^^^^
KeyError: 'tenant'
"""

QUOTED = """\
Traceback (most recent call last):
  File "/app/the "new" one/main.py", line 9, in <module>
    main()
  File "/app/the "new" one/db.py", line 42, in query
    return rows[name]
KeyError: 'tenant'
"""

CHAINED = """\
Traceback (most recent call last):
  File "/app/conf.py", line 14, in parse
    return cfg["pool"]
           ~~~^^^^^^^^
KeyError: 'pool'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/conf.py", line 21, in load
    raise ConfigError(f"unreadable settings file {path}") from e
conf.ConfigError: unreadable settings file a.json

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/main.py", line 31, in <module>
    boot()
conf.StartupError: worker 7 failed to start
"""


def test_simple_traceback():
    """Type, cause, the innermost own frame, and the source line that failed."""
    assert facts(SIMPLE) == Facts(
        type="KeyError",
        cause="'tenant'",
        location=Location(function="query", file="/app/db.py", line=42),
        details=("> return rows[name]",),
        format="python",
    )


def test_chain_leads_to_its_root_cause():
    """The root cause is the first one printed; wrappers follow from the inside out, with their places."""
    assert facts(CHAINED) == Facts(
        type="KeyError",
        cause="'pool'",
        location=Location(function="parse", file="/app/conf.py", line=14),
        details=(
            '> return cfg["pool"]',
            "raised as conf.ConfigError at load (conf.py:21): unreadable settings file a.json",
            "while handling that, raised conf.StartupError at <module> (main.py:31): worker 7 failed to start",
        ),
        format="python",
        wrappers=("conf.StartupError", "conf.ConfigError"),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("starting\nloading\n" + SIMPLE, id="text before"),
        pytest.param("Exit code 1\n" + SIMPLE, id="exit code before"),
        pytest.param(SIMPLE + "\n2026-11-20 11:57:57,123 INFO worker: next job", id="log record behind"),
        pytest.param(SIMPLE.replace("\n", "\r\n"), id="CRLF"),
        pytest.param("".join(f"    {line}\n" for line in SIMPLE.splitlines()), id="indented"),
        pytest.param(SIMPLE.replace("KeyError", "\x1b[1;35mKeyError\x1b[0m"), id="colours"),
        pytest.param("ERROR:root:" + SIMPLE, id="behind a log prefix"),
        pytest.param("".join(f"web-1  | {line}\n" for line in SIMPLE.splitlines()), id="each line behind a prefix"),
        pytest.param(SIMPLE.replace("           ~~~~^^^^^^\n", ""), id="without markers"),
        pytest.param(SIMPLE.split("\n", 3)[3], id="head cut off"),
        pytest.param(f"failed: {SIMPLE!r}", id="quoted"),
    ],
)
def test_surroundings_do_not_matter(text):
    """Text around a traceback, and how its lines were printed, change neither type, cause nor place."""
    found = facts(text)
    assert (found.type, found.cause, found.location) == (
        "KeyError",
        "'tenant'",
        Location(function="query", file="/app/db.py", line=42),
    )


def test_innermost_own_frame():
    """Frames of installed packages and of the standard library are not the place to look at."""
    found = facts(
        "Traceback (most recent call last):\n"
        '  File "/app/pay.py", line 6, in charge\n'
        "    client.send(request)\n"
        '  File "/app/.venv/lib/python3.11/site-packages/net/client.py", line 11, in send\n'
        "    sock.connect(address)\n"
        '  File "/usr/lib/python3.11/socket.py", line 836, in connect\n'
        "    raise error\n"
        "ConnectionRefusedError: [Errno 111] Connection refused\n"
    )
    assert found.location == Location(function="charge", file="/app/pay.py", line=6)
    assert found.details == ("> client.send(request)", "raised in connect (socket.py:836)")


def test_place_in_a_library():
    """The function of a library that raised is named."""
    found = facts(
        "Traceback (most recent call last):\n"
        '  File "/app/pay.py", line 6, in charge\n'
        '  File "/app/.venv/lib/python3.11/site-packages/net/client.py", line 11, in send\n'
        "ConnectionRefusedError: [Errno 111] Connection refused\n"
    )
    assert found.details == ("raised in send (net/client.py:11)",)


def test_place_of_a_root_cause_without_own_frames():
    """Where the root cause never passed own code, the place is where its wrapper did."""
    found = facts(
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/socket.py", line 836, in connect\n'
        "ConnectionRefusedError: [Errno 111] Connection refused\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/app/net.py", line 12, in fetch\n'
        "    return urlopen(url)\n"
        '  File "/usr/lib/python3.11/urllib/request.py", line 1351, in do_open\n'
        "    raise URLError(err)\n"
        "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>\n"
    )
    assert found.location == Location(function="fetch", file="/app/net.py", line=12)
    assert found.type == "ConnectionRefusedError"


def test_no_own_frame_at_all():
    """Without any own frame the innermost one is the place."""
    found = facts(
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/runpy.py", line 8, in run\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 355, in decode\n'
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    )
    assert found.location == Location(function="decode", file="/usr/lib/python3.11/json/decoder.py", line=355)


def test_cancellation_is_no_root_cause():
    """A time-out is what happened; the cancellation below it is how."""
    found = facts(
        "Traceback (most recent call last):\n"
        '  File "/usr/lib/python3.11/asyncio/tasks.py", line 649, in sleep\n'
        "asyncio.exceptions.CancelledError\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/app/page.py", line 8, in fetch\n'
        "    await asyncio.wait_for(get(), 3)\n"
        "TimeoutError\n"
    )
    assert (found.type, found.cause, found.wrappers) == ("TimeoutError", "no message", ())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            'Traceback (most recent call last):\n  File "/app/run.py", line 3, in <module>\n    import plan\n'
            '  File "/app/plan.py", line 22\n    def f(:\n          ^\nSyntaxError: invalid syntax\n',
            id="in an import",
        ),
        pytest.param(
            '  File "/app/plan.py", line 22\n    def f(:\n          ^\nSyntaxError: invalid syntax', id="alone"
        ),
        pytest.param('File "/app/plan.py", line 22\n    def f(:\nSyntaxError: invalid syntax', id="stripped"),
    ],
)
def test_syntax_error(text):
    """The place of a syntax error is the line that does not compile, and that line is shown."""
    found = facts(text)
    assert found.type == "SyntaxError"
    assert found.cause == "invalid syntax"
    assert found.location == Location(file="/app/plan.py", line=22)
    assert found.details == ("> def f(:",)


def test_syntax_error_in_code_without_file():
    """Code that was handed to `eval` has no file; the place is who handed it over."""
    found = facts(
        'Traceback (most recent call last):\n  File "/app/calc.py", line 5, in compute\n    return eval(text)\n'
        '  File "<string>", line 1\n    1 +\n      ^\nSyntaxError: invalid syntax\n'
    )
    assert found.location == Location(function="compute", file="/app/calc.py", line=5)
    assert found.details == ("> return eval(text)", "1 +")


def test_code_without_file_and_caller():
    """With nobody to point at, the place stays the code itself."""
    assert facts('  File "<stdin>", line 1\n    1 +\n      ^\nSyntaxError: invalid syntax').location == Location(
        file="<stdin>", line=1
    )


def test_recursion():
    """A repeated frame is printed as a count; where the limit was met does not count for the key."""
    found = facts(
        'Traceback (most recent call last):\n  File "/app/a.py", line 9, in <module>\n    walk(0)\n'
        '  File "/app/a.py", line 3, in walk\n    return walk(n + 1)\n'
        "  [Previous line repeated 996 more times]\n"
        '  File "/app/a.py", line 2, in helper\n    len(x)\n'
        "RecursionError: maximum recursion depth exceeded while calling a Python object\n"
    )
    assert found.location == Location(function="walk", file="/app/a.py", line=3)
    assert found.cause == "maximum recursion depth exceeded while calling a Python object"
    assert found.keyed_cause == "maximum recursion depth exceeded"


def test_count_without_frame():
    """A count that the cut has separated from its frame counts nothing."""
    found = facts(
        "Traceback (most recent call last):\n  [Previous line repeated 996 more times]\n"
        '  File "/app/a.py", line 2, in helper\n    len(x)\nRecursionError: maximum recursion depth exceeded\n'
    )
    assert found.location == Location(function="helper", file="/app/a.py", line=2)


def test_count_without_source_line():
    """The count of repetitions is never taken for source."""
    found = facts(
        'Traceback (most recent call last):\n  File "/app/a.py", line 3, in walk\n'
        "  [Previous line repeated 996 more times]\nValueError: deep\n"
    )
    assert found.details == ()


def test_suggestion_is_a_detail():
    """What Python suggests is printed only; it helps, and does not count for the key."""
    found = facts(
        'Traceback (most recent call last):\n  File "/app/a.py", line 3, in f\n'
        "AttributeError: 'Db' object has no attribute 'curser'. Did you mean: 'cursor'?\n"
    )
    assert found.cause == "'Db' object has no attribute 'curser'"
    assert found.details == ("Did you mean: 'cursor'?",)


def test_message_of_several_lines():
    """The first line is the cause; a later one that states an error leads the details and counts for the key."""
    found = facts(
        'Traceback (most recent call last):\n  File "/app/a.py", line 3, in build\n    run()\n'
        "a.BuildError: npm run build failed\nrendering chunk 1\nerror: no such module './Chart'\nsee the log\n"
    )
    assert found.cause == "npm run build failed"
    assert found.key_cause == "npm run build failed | error: no such module './Chart'"
    assert found.details[0] == "error: no such module './Chart'"


def test_notes_are_details():
    """Notes stand below the message."""
    found = facts(SIMPLE + "while loading row 7\nof table users\n")
    assert found.details == ("while loading row 7", "of table users", "> return rows[name]")
    assert found.key_cause == ""


def test_several_tracebacks():
    """The last one is what ended the program; the others are named."""
    other = SIMPLE.replace("KeyError: 'tenant'", "ValueError: bad row 7")
    found = facts(f"{SIMPLE}\nretrying\n{other}\nretrying\n{other}\n{SIMPLE}")
    assert found.type == "KeyError"
    assert found.details == ("> return rows[name]", "also ValueError at query (/app/db.py:42): bad row 7")


def test_what_a_command_said_before_the_traceback():
    """The traceback of a program whose command failed says less than the command did."""
    found = facts(
        "bash: line 1: nosuchprog: command not found\nTraceback (most recent call last):\n"
        '  File "/app/a.py", line 3, in build\n    subprocess.run(command, check=True)\n'
        "subprocess.CalledProcessError: Command '['bash', '-c', 'nosuchprog']' returned non-zero exit status 127.\n"
    )
    assert "bash: line 1: nosuchprog: command not found" in found.details
    assert found.key_cause == "Command 'nosuchprog' returned non-zero exit status 127"


# --- cut off ---------------------------------------------------------------------------------------------------------


def test_cut_before_the_last_line():
    """What the source says of type and message stands in for the line that was cut off."""
    found = facts(SIMPLE[:110], type="KeyError", message="'tenant'")
    assert (found.type, found.cause, found.location.function) == ("KeyError", "'tenant'", "<module>")


def test_cut_within_the_last_line():
    """The source's own type and message complete what is left of the last line."""
    found = facts(SIMPLE[:-6], type="KeyError", message="'tenant'")
    assert (found.type, found.cause) == ("KeyError", "'tenant'")
    found = facts(SIMPLE[: SIMPLE.index("Error: ")], type="KeyError", message="'tenant'")
    assert (found.type, found.cause) == ("KeyError", "'tenant'")


def test_cut_and_nothing_known():
    """A traceback without last line says so."""
    found = facts(SIMPLE[:110])
    assert (found.type, found.cause) == ("Exception", "the traceback is cut off before its last line")


def test_cut_after_the_header():
    """With not a single frame left, only type and message are known."""
    found = facts("Traceback (most recent call last):\n  Fil", type="db.QueryError", message="no such table")
    assert (found.type, found.cause, found.location) == ("db.QueryError", "no such table", Location())


def test_cut_in_a_chain():
    """The root cause is printed first and survives; the cut wrapper is what the source says it is."""
    found = facts(CHAINED[: CHAINED.index("conf.StartupError")], type="conf.StartupError", message="worker 7 failed")
    assert (found.type, found.cause) == ("KeyError", "'pool'")
    assert found.wrappers == ("conf.StartupError", "conf.ConfigError")


def test_message_of_a_syntax_error_is_not_completed():
    """The message of a syntax error holds its place, which is printed apart."""
    found = facts(
        '  File "/app/plan.py", line 22\n    def f(:\nSyntaxError: invalid syntax',
        type="SyntaxError",
        message="invalid syntax (plan.py, line 22)",
    )
    assert found.cause == "invalid syntax"


def test_head_of_a_chain_cut_off():
    """A cause of which only the last line is left is still the root cause."""
    text = CHAINED[CHAINED.index("KeyError") :]
    assert (facts(text).type, facts(text).cause) == ("KeyError", "'pool'")


def test_frames_alone_are_no_failure():
    """A list of frames, as profilers print it, is not taken for a traceback."""
    assert format_of('  File "/app/a.py", line 3, in f\n  File "/app/b.py", line 4, in g\ndone') != "python"


def test_similar_output_of_other_languages():
    """`File "..."` is not enough to be Python."""
    text = 'File "bin/main.ml", line 3, characters 4-10:\nError: Unbound value foo'
    assert format_of(text) == "findings"


# --- groups ----------------------------------------------------------------------------------------------------------

GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "/app/sync.py", line 20, in main
  |     raise ExceptionGroup("sync failed", errors)
  | ExceptionGroup: sync failed (3 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/app/sync.py", line 9, in fetch
    |     raise TimeoutError(shard)
    | TimeoutError: shard 2: no reply after 30.01 s
    +---------------- 2 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "/app/sync.py", line 30, in inner
    |     raise ExceptionGroup("inner", errors)
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | Traceback (most recent call last):
      |   File "/app/sync.py", line 11, in check
      |     return {}["checksum"]
      | KeyError: 'checksum'
      +------------------------------------
    +---------------- 3 ----------------
    | Traceback (most recent call last):
    |   File "/app/sync.py", line 9, in fetch
    |     raise TimeoutError(shard)
    | TimeoutError: shard 5: no reply after 29.97 s
    +------------------------------------
"""


def test_group():
    """The distinct children are told once, with counts and places; only they count for the key."""
    found = facts(GROUP)
    assert found.type == "ExceptionGroup"
    assert found.location == Location(function="main", file="/app/sync.py", line=20)
    assert found.cause == "sync failed: 2 x TimeoutError: shard 2: no reply after 30.01 s; and 1 other (KeyError)"
    assert found.details == (
        "TimeoutError at fetch (sync.py:9); same for 5/29.97",
        "KeyError at check (sync.py:11): 'checksum' (in \"inner\")",
    )
    assert found.key_cause.startswith(
        "KeyError in check (sync.py): 'checksum' + TimeoutError in fetch (sync.py): shard "
    )


def test_group_of_one_kind_is_that_kind():
    """Many failures with one cause are one failure of that kind; the group is a wrapper."""
    child = (
        "    | Traceback (most recent call last):\n"
        '    |   File "/app/shards.py", line 14, in load\n'
        "    | ValueError: bad shard {}\n"
    )
    text = (
        "  + Exception Group Traceback (most recent call last):\n"
        '  |   File "/app/shards.py", line 29, in sync\n'
        "  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n"
        "  +-+---------------- 1 ----------------\n"
        + child.format(0)
        + "    +---------------- 2 ----------------\n"
        + child.format(1)
        + "    +------------------------------------\n"
    )
    assert facts(text) == Facts(
        type="ValueError",
        cause="bad shard 0",
        location=Location(function="load", file="/app/shards.py", line=14),
        details=(
            "2 times in one ExceptionGroup: same for 1",
            "raised as ExceptionGroup at sync (shards.py:29): unhandled errors in a TaskGroup",
        ),
        format="python",
        wrappers=("ExceptionGroup",),
    )


def test_group_that_was_wrapped():
    """What was raised from a group has the group's children as root causes."""
    text = (
        GROUP + "\nThe above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "/app/main.py", line 3, in run\n    sync()\n'
        "RuntimeError: run failed\n"
    )
    found = facts(text)
    assert (found.type, found.wrappers) == ("ExceptionGroup", ("RuntimeError",))
    assert found.key_cause == facts(GROUP).key_cause


def test_group_with_children_left_out():
    """Python prints only some children of a large group, and says so; that line is no child."""
    text = GROUP.replace(
        "    +---------------- 3 ----------------\n",
        "    +---------------- ... ----------------\n"
        "    | and 4 more exceptions\n"
        "    +---------------- 3 ----------------\n",
    )
    assert facts(text).key_cause == facts(GROUP).key_cause


def test_group_cut_off():
    """The children printed before the cut are still known."""
    found = facts(GROUP[: GROUP.index("    +---------------- 2")], type="ExceptionGroup", message="sync failed")
    assert (found.type, found.cause) == ("TimeoutError", "shard 2: no reply after 30.01 s")


def test_groups_are_looked_into_to_a_bounded_depth():
    """However deep groups are nested, there are facts."""
    lines = []
    for depth in range(1, 200):
        margin = "  " * depth
        lines += [
            f"{margin}{'+' if depth == 1 else '|'} Exception Group Traceback (most recent call last):",
            f"{margin}| ExceptionGroup: level {depth} (1 sub-exception)",
            f"{margin}+-+---------------- 1 ----------------",
        ]
    found = facts("\n".join(lines))
    assert found.type == "ExceptionGroup"
    assert len(found.wrappers) <= 16


def test_traceback_in_a_json_record():
    """The last traceback in a string of JSON is read with its escapes resolved, also where the record is cut."""
    record = '{"level": "error", "exc_info": ' + json.dumps(SIMPLE) + ', "logger": "jobs"}'
    assert facts(f'{{"level": "info"}}\n{record}').location == facts(SIMPLE).location
    assert facts(record.partition("KeyError")[0] + "KeyError: 'tenant'").cause == "'tenant'"


def test_exceptions_that_python_ignores():
    """What went wrong while an object was taken away comes second to what went wrong before."""
    ignored = f"Exception ignored in: <function Session.__del__ at 0x7f98>\n{SIMPLE.replace('tenant', 'socket')}"
    assert facts(f"{SIMPLE}{ignored}{ignored}").cause == "'tenant'"
    assert facts(ignored).cause == "'socket'"
    assert facts(f"{ignored}{SIMPLE}").cause == "'tenant'"


def test_crash_of_the_interpreter():
    """The fault handler prints the innermost frame first, and other threads before the current one."""
    found = facts(
        "Fatal Python error: Segmentation fault\n\n"
        "Thread 0x00007f3f (most recent call first):\n"
        '  File "/app/other.py", line 1 in wait\n\n'
        "Current thread 0x00007f40 (most recent call first):\n"
        '  File "/usr/lib/python3.11/ctypes/util.py", line 5 in call\n'
        '  File "/app/native.py", line 7 in decode\n'
        '  File "/app/main.py", line 3 in <module>\n\n'
        "Extension modules: numpy (total: 1)\n"
    )
    assert (found.type, found.cause) == ("Fatal Python error", "Segmentation fault")
    assert str(found.location) == "decode (/app/native.py:7)"


def test_source_that_only_raises():
    """A line that raises says no more than the exception does."""
    assert facts(SIMPLE.replace("return rows[name]", "raise KeyError(name)")).details == ()


def test_private_modules_are_no_part_of_a_name():
    """The name of an exception is the one that it is imported by."""
    assert facts(SIMPLE.replace("KeyError", "shop._core._errors.RateError")).type == "shop.RateError"


def test_very_large_group():
    """Of very many children the first ones are looked at."""
    its_words = f"    | {HEADER}\n    | ValueError: bad\n"
    children = "".join(f"    +---------------- {number} ----------------\n{its_words}" for number in range(2, 121))
    head = "  + Exception Group Traceback (most recent call last):\n  | ExceptionGroup: sync (120 sub-exceptions)\n"
    text = f"{head}  +-+---------------- 1 ----------------\n{its_words}{children}    +---------------------\n"
    assert facts(text).details[0] == "100 times in one ExceptionGroup"


def test_the_report_of_a_script_hides_no_traceback():
    """What a shell or make writes below a traceback names who ran it, and is neither the cause nor its message."""
    text = (
        'Traceback (most recent call last):\n  File "/app/render.py", line 22, in load\n    return os.environ[key]\n'
        "KeyError: 'QUEUE_URL'\nscripts/build.sh: line 57: build_images: worker failed (exit 1)\n"
        "make: *** [Makefile:23: images] Error 1"
    )
    found = facts(text)
    assert (found.type, found.cause, str(found.location)) == ("KeyError", "'QUEUE_URL'", "load (/app/render.py:22)")
    assert "scripts/build.sh: line 57: build_images: worker failed (exit 1)" in found.details


def test_compiled_code_is_a_library():
    """A frame of an extension module is no place of the user's, though its path is relative."""
    found = facts(
        'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 3, in total\n    frame.index = days\n'
        '  File "fast/props.pyx", line 69, in fast.props.Axis.__set__\n'
        '  File "/usr/lib/python3.12/site-packages/fast/base.py", line 98, in check\n    raise ValueError(\n'
        "ValueError: Length mismatch: 4 and 96\n"
    )
    assert str(found.location) == "total (/srv/shop/cart.py:3)"


def test_the_end_of_a_message_is_no_source_line():
    """The last line of a statement that raises says no more than the message."""
    found = facts(
        'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 3, in check\n    .format(name, kind))\n'
        "TypeError: rate must be int\n"
    )
    assert found.details == ()


def test_what_another_program_prints_below_is_no_message():
    """The interpreter says all in one line; the failure below stands beside it, and is not raised by it."""
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/srv/till/load.py", line 4, in read_rates\n'
        "    with open(path) as rates:\n"
        "FileNotFoundError: [Errno 2] No such file or directory: 'rates.toml'\n"
    )
    found = facts(f"{trace}till.py:3:7: F821 undefined name 'rate'\ntill.py:9:1: F401 'os' imported but unused\n")
    assert (found.type, found.location.line) == ("FileNotFoundError", 4)
    assert found.details[-1] == "also F821 at till.py:3: undefined name 'rate' (1 of 2 errors)"
    assert not any("raised as" in line for line in found.details)
    made = "make: *** [Makefile:3: rates] Error 1\n"
    for behind in (made, f"{made}bye\n", "done with 3 files\n"):
        assert not any(line.startswith("also") for line in facts(f"{trace}{behind}").details)


def test_what_follows_has_no_place():
    """It may say neither where nor how often it failed."""
    found = facts(
        "Traceback (most recent call last):",
        '  File "/srv/till/load.py", line 4, in read_rates',
        "    return rate",
        "NameError: name 'rate' is not defined",
        'npm error Missing script: "build"',
    )
    assert found.details[-1] == 'also MissingScript: Missing script: "build"'


def test_a_path_with_quotes_is_read() -> None:
    """A folder may be called so, and Python writes its name as it is."""
    assert facts(QUOTED).location == Location(function="query", file='/app/the "new" one/db.py', line=42)
