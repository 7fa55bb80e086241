"""Stacks of Java and its neighbours; samples are written for these tests, real ones are in the corpus."""

from __future__ import annotations

import pytest

from otel_errcompact.extract.stacks.jvm import function_of
from tests.extract.reading import facts, key

STACK = """\
Exception in thread "main" java.lang.IllegalStateException: order 17 has no lines
\tat com.acme.Order.total(Order.java:41)
\tat com.acme.Main.main(Main.java:9)
"""


def test_single():
    """The innermost own frame is the place, and the package of Java's own exceptions says nothing."""
    found = facts(STACK)
    assert (found.type, str(found.location), found.cause, found.format) == (
        "IllegalStateException",
        "Order.total (Order.java:41)",
        "order 17 has no lines",
        "jvm",
    )
    assert found.details == ()


def test_root_is_the_last_cause():
    """Wrappers are named without what they quote of their cause, whatever joins the two."""
    found = facts(
        "org.springframework.web.util.NestedServletException: Request processing failed; nested exception is "
        "com.acme.StoreException: cannot load; nested exception is java.sql.SQLException: connection closed\n"
        "\tat org.springframework.web.servlet.FrameworkServlet.doGet(FrameworkServlet.java:898)\n"
        "\tat com.acme.Filter.doFilter(Filter.java:12) ~[classes/:na]\n"
        "Caused by: com.acme.StoreException: cannot load; nested exception is java.sql.SQLException: connection "
        "closed\n"
        "\tat com.acme.Store.load(Store.java:30)\n"
        "\t... 40 common frames omitted\n"
        "Caused by: java.sql.SQLException: connection closed\n"
        "\tat com.vendor.Driver.query(Driver.java:7) ~[vendor-1.0.jar:1.0]\n"
        "\tat com.zaxxer.hikari.pool.ProxyStatement.execute(ProxyStatement.java:5)\n"
        "\tat com.acme.Store.query(Store.java:55)\n"
        "\t... 41 more\n"
    )
    assert (found.type, str(found.location), found.cause) == (
        "SQLException",
        "Store.query (Store.java:55)",
        "connection closed",
    )
    assert found.wrappers == ("org.springframework.web.util.NestedServletException", "com.acme.StoreException")
    assert found.details == (
        "raised in Driver.query (Driver.java:7)",
        "raised as com.acme.StoreException at Store.load (Store.java:30): cannot load",
        (
            "raised as org.springframework.web.util.NestedServletException at Filter.doFilter (Filter.java:12): "
            "Request processing failed"
        ),
    )


def test_root_cause_first():
    """Logback can print the root cause first, with its wrappers below."""
    found = facts(
        "java.io.IOException: disk full\n\tat com.acme.Spool.write(Spool.java:8)\n"
        "Wrapped by: com.acme.JobException: job failed\n\tat com.acme.Job.run(Job.java:3)\n"
    )
    assert (found.type, found.cause, found.wrappers) == ("IOException", "disk full", ("com.acme.JobException",))


def test_suppressed():
    """What was suppressed, with its own causes, is a detail of the exception it belongs to."""
    found = facts(
        "java.io.IOException: read failed\n"
        "\tat com.acme.Reader.read(Reader.java:8)\n"
        "\tSuppressed: java.io.IOException: close failed\n"
        "\t\tat com.acme.Reader.close(Reader.java:20)\n"
        "\tCaused by: java.net.SocketException: reset\n"
        "\t\tat com.acme.Reader.close(Reader.java:19)\n"
        "\tSuppressed: kotlinx.coroutines.internal.DiagnosticCoroutineContextException: [Job]\n"
        "Caused by: java.net.SocketException: broken pipe\n"
        "\tat com.acme.Wire.take(Wire.java:2)\n"
    )
    assert (found.type, found.cause) == ("SocketException", "broken pipe")
    assert found.details[0] == "suppressed IOException at Reader.close (Reader.java:20): close failed"


@pytest.mark.parametrize(
    ("name", "method", "file", "shown"),
    [
        pytest.param("com.acme.Main", "lambda$main$0", "Main.java", "Main.main", id="java lambda"),
        pytest.param("acme.Stock", "take$$anonfun$2", "Stock.scala", "Stock.take", id="scala 3 closure"),
        pytest.param("acme.Stock$", "$anonfun$take$1", "Stock.scala", "Stock.take", id="scala 2 closure"),
        pytest.param("com.acme.CartKt$main$1", "invoke", "Cart.kt", "CartKt$main.invoke", id="kotlin closure"),
        pytest.param("com.acme.Main$Ledger", "of", "Main.java", "Main$Ledger.of", id="nested class"),
        pytest.param("Main", "main", "Main.java", "Main.main", id="no package"),
        pytest.param("acme.report$mean", "invokeStatic", "report.clj", "acme.report/mean", id="clojure"),
    ],
)
def test_names_of_functions(name, method, file, shown):
    """A function is named as its author would, without the numbers and parts that compilers make up."""
    assert function_of(name, method, file) == shown


def test_generated_frames_are_not_own():
    """Proxies that a framework generated in the user's package are skipped."""
    found = facts(
        "java.lang.NullPointerException\n"
        "\tat com.acme.Shop$$EnhancerBySpringCGLIB$$1f.buy(<generated>)\n"
        "\tat jdk.proxy2/jdk.proxy2.$Proxy9.buy(Unknown Source)\n"
        "\tat app//com.acme.Web.buy(Web.java:4)\n"
    )
    assert (str(found.location), found.cause) == ("Web.buy (Web.java:4)", "no message")


def test_only_libraries():
    """Without own frames the place is the innermost one outside of the language's runtime."""
    found = facts(
        "java.lang.IllegalArgumentException: bad\n"
        "\tat java.base/java.util.Objects.check(Objects.java:1)\n"
        "\tat org.apache.commons.lang3.Validate.isTrue(Validate.java:158)\n"
    )
    assert str(found.location) == "Validate.isTrue (Validate.java:158)"


def test_only_the_runtime():
    """With nothing but the runtime on the stack, its innermost frame is the place."""
    found = facts(
        'Exception in thread "Thread-0" java.lang.InterruptedException: sleep interrupted\n'
        "\tat java.base/java.lang.Thread.sleep(Native Method)\n"
    )
    assert str(found.location) == "Thread.sleep"


def test_called_by_python():
    """Where only Spark's own code raised, the place is the line of Python that called it."""
    java = (
        "py4j.protocol.Py4JJavaError: An error occurred while calling o27.count.\n"
        ": org.apache.hadoop.mapred.InvalidInputException: Input path does not exist: file:/none/x\n"
        "\tat org.apache.hadoop.mapred.FileInputFormat.listStatus(FileInputFormat.java:304)\n"
        "\tat org.apache.spark.rdd.RDD.collect(RDD.scala:1048)\n"
        "\tat py4j.reflection.MethodInvoker.invoke(MethodInvoker.java:244)\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
        "Caused by: java.io.IOException: Input path does not exist: file:/none/x\n"
        "\tat org.apache.hadoop.mapred.FileInputFormat.listStatus(FileInputFormat.java:278)\n\t... 34 more\n"
    )
    python = (
        'Traceback (most recent call last):\n  File "/srv/job.py", line 15, in main\n    lines.count()\n'
        '  File "/usr/lib/python3/dist-packages/py4j/protocol.py", line 326, in get_return_value\n'
        "    raise Py4JJavaError(\n"
    )
    found = facts(python + java)
    assert (str(found.location), found.cause) == ("main (/srv/job.py:15)", "Input path does not exist: file:/none/x")
    assert found.details[0] == "raised in FileInputFormat.listStatus (FileInputFormat.java:278)"
    assert str(facts(java).location) == ""
    own = java.replace("\tat org.apache.spark.rdd", "\tat com.acme.Udf.call(Udf.java:9)\n\tat org.apache.spark.rdd")
    assert str(facts(own).location) == "Udf.call (Udf.java:9)"


def test_recursion_has_one_key():
    """Where in the cycle the stack overflowed is chance."""
    frames = ["\tat com.acme.A.f(A.java:1)\n", "\tat com.acme.B.g(B.java:2)\n"]
    head = "java.lang.StackOverflowError\n"
    assert key(head + "".join(frames) * 40) == key(head + "".join(frames[::-1]) * 40)


def test_log_prefix_and_several_stacks():
    """The exception may stand behind a log record's words; another failure in the same text is named."""
    found = facts(
        "10:00:01.123 [main] ERROR c.a.Job - run 7 failed: com.acme.JobException: no input\n"
        "\tat com.acme.Job.run(Job.java:14)\n"
        "10:00:02.123 [main] ERROR c.a.Job - again\n"
        "com.acme.PushException: rejected\n"
        "by the server\n"
        "\tat com.acme.Push.send(Push.java:3)\n"
    )
    assert (found.type, found.cause) == ("com.acme.PushException", "rejected")
    assert found.details == ("by the server", "also com.acme.JobException at Job.run (Job.java:14): no input")


def test_logged_twice():
    """A failure that is logged twice is one failure."""
    assert facts(STACK + STACK) == facts(STACK)


def test_message_of_several_lines():
    """Lines between the first one and the frames belong to the message."""
    found = facts(
        'Exception in thread "main" java.lang.Error: Unresolved compilation problem:\n'
        "\tfoo cannot be resolved\n\n\tat com.acme.Main.main(Main.java:5)\n"
    )
    assert found.cause == "Unresolved compilation problem: foo cannot be resolved"


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(
            "\tat com.acme.Order.total(Order.java:41)\n\tat com.acme.Main.main(Main.java:9)",
            "Exception",
            "the stack is cut off before its first line",
            id="head cut off",
        ),
        pytest.param(
            "\tat com.acme.Main.main(Main.java:9)\nCaused by: com.acme.BadOrder: no lines\n\t... 3 more",
            "com.acme.BadOrder",
            "no lines",
            id="outermost cut off",
        ),
        pytest.param(
            "Error: LinkageError occurred while loading main class Main\n"
            "Caused by: java.lang.UnsupportedClassVersionError: Main has been compiled by a newer Java",
            "UnsupportedClassVersionError",
            "Main has been compiled by a newer Java",
            id="launcher",
        ),
    ],
)
def test_cut_off(text, kind, cause):
    """What is left of a stack that was cut still tells what it can."""
    found = facts(text)
    assert (found.type, found.cause, found.format) == (kind, cause, "jvm")


def test_clojure_compiler():
    """Clojure's report names the place; the compiler's has no exception of its own."""
    found = facts(
        "Syntax error compiling at (src/acme/core.clj:7:3).\n"
        "Unable to resolve symbol: prinln in this context\n\nFull report at:\n/tmp/clojure-77.edn\n"
    )
    assert (found.type, str(found.location), found.cause) == (
        "CompilerException",
        "src/acme/core.clj:7",
        "Unable to resolve symbol: prinln in this context",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Full report at: https://ci.example/17", id="a report"),
        pytest.param("the log says APPLICATION FAILED TO START", id="a mention"),
        pytest.param("Order.java:41 is where the total is computed", id="a place"),
        pytest.param("Caused by: Error: not of the JVM\n    at run (/srv/app.js:1:2)", id="javascript"),
        pytest.param("thread dump:\n\tat com.acme.Main.main(Main.java:9)", id="thread dump"),
        pytest.param("Error: bad\nsee Caused by: below\n\tat x", id="prose"),
    ],
)
def test_not_taken(text):
    """Texts that merely mention a stack are left to others."""
    assert facts(text).format != "jvm"


def test_keys():
    """Lines, threads and wrappers do not matter; the place and the root cause do."""
    moved = STACK.replace(":41", ":97").replace("order 17", "order 90")
    assert key(STACK) == key(moved)
    assert key(STACK) != key(STACK.replace("Order.total", "Order.tax"))
    assert key(STACK) != key(STACK.replace("no lines", "no customer"))
