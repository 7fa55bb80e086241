"""What make, ninja, scons, just and bazel say; outputs of just and bazel are written by hand."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("lines", "kind", "location", "cause"),
    [
        pytest.param(
            ("gmake[1]: *** No rule to make target 'Makefile'.  Stop.",),
            "make",
            "",
            "No rule to make target 'Makefile'",
            id="no rule",
        ),
        pytest.param(
            ("lib/rules.mk:7: *** TOOL is not set.  Stop.",),
            "make",
            "lib/rules.mk:7",
            "TOOL is not set",
            id="own error",
        ),
        pytest.param(
            ("sh: 1: protoc: not found", "Makefile:9: recipe for target 'api' failed", "make: *** [api] Error 127"),
            "CommandNotFound",
            "",
            "protoc: command not found",
            id="place of an older make",
        ),
        pytest.param(
            ("./tests", "make: *** [Makefile:4: check] Segmentation fault (core dumped)"),
            "Segmentation fault (core dumped)",
            "Makefile:4",
            "./tests",
            id="signal",
        ),
        pytest.param(
            ("make: *** [/src/Makefile:4: check] Error 1",),
            "exit code 1",
            "/src/Makefile:4",
            "the recipe for 'check' failed without a word",
            id="silent recipe",
        ),
        pytest.param(
            (
                "make[1]: Entering directory '/src/lib'",
                "make[1]: *** [rules.mk:2: a] Error 1",
                "make: *** [Makefile:1: b] Error 2",
            ),
            "exit code 1",
            "/src/lib/rules.mk:2",
            "the recipe for 'a' failed without a word",
            id="caller fails too",
        ),
        pytest.param(
            (
                "fatal: not a git repository (or any of the parent directories): .git",
                "make: *** [Makefile:2: version] Error 128",
            ),
            "NotARepository",
            "",
            "not a git repository (or any of the parent directories): .git",
            id="recipe runs git",
        ),
        pytest.param(
            ('psql:seed.sql:3: ERROR:  relation "carts" does not exist', "make: *** [Makefile:2: deploy] Error 1"),
            "UndefinedTable",
            "seed.sql:3",
            'relation "carts" does not exist',
            id="recipe with a place of its own",
        ),
        pytest.param(
            ("FAILED: [code=2] gen.h", "gen --out gen.h", "schema is empty, cannot generate", "[2/3] touch b"),
            "error",
            "",
            "schema is empty, cannot generate",
            id="ninja with exit code",
        ),
        pytest.param(
            ("[1/3] gen --out gen.h", "FAILED: gen.h", "gen --out gen.h"),
            "ninja",
            "",
            "the recipe for 'gen.h' failed without a word",
            id="ninja, cut off",
        ),
        pytest.param(
            ("no database for tests", "error: Recipe `test` failed on line 5 with exit code 4"),
            "exit code 4",
            "justfile:5",
            "no database for tests",
            id="just",
        ),
        pytest.param(
            ("error: Recipe `test` failed with exit code 4",),
            "exit code 4",
            "",
            "the recipe for 'test' failed without a word",
            id="just without a line",
        ),
        pytest.param(
            ("error: Justfile does not contain recipe `tset`.", "Did you mean `test`?"),
            "just",
            "",
            "Justfile does not contain recipe `tset`.",
            id="just without the recipe",
        ),
        pytest.param(
            (
                "INFO: Analyzed target //shop:shop",
                "ERROR: /src/shop/BUILD:3:10: no such target '//shop:tax': target 'tax' not declared in package 'shop'",
                "ERROR: Analysis of target '//shop:shop' failed; build aborted",
                "FAILED: Build did NOT complete successfully",
            ),
            "bazel",
            "/src/shop/BUILD:3",
            "no such target '//shop:tax': target 'tax' not declared in package 'shop'",
            id="bazel",
        ),
        pytest.param(
            ("ERROR: Unrecognized option: --confg", "ERROR: Build did NOT complete successfully"),
            "bazel",
            "",
            "Unrecognized option: --confg",
            id="bazel without a place",
        ),
    ],
)
def test_facts(lines, kind, location, cause):
    """The innermost recipe that failed is the place, and what it said is the cause."""
    found = facts(*lines)
    assert (found.format, found.type, str(found.location), found.cause) == ("make", kind, location, cause)


def test_recipe_with_a_place_of_its_own_names_the_target():
    """Where the cause has a place, the target becomes a detail."""
    found = facts('psql:seed.sql:3: ERROR:  relation "carts" does not exist', "make: *** [Makefile:2: deploy] Error 1")
    assert found.details == ("to make deploy (Makefile:2)",)


def test_makefile_that_is_missing_names_the_folder():
    """A rule that is missing in another folder is told with the folder."""
    found = facts("make[1]: Entering directory '/src/lib'", "make[1]: *** No rule to make target 'x'.  Stop.")
    assert found.details == ("in /src/lib",)


def test_targets_that_go_on_are_members():
    """With `-k`, each target that failed by itself is a failure; those that needed it are not."""
    found = facts(
        "make[1]: *** [Makefile:3: tables] Error 1",
        "make: *** [Makefile:9: lib] Error 2",
        "make: *** Waiting for unfinished jobs....",
        "no rates for taxes, cannot go on",
        "make: *** [Makefile:4: taxes] Error 5",
    )
    assert (found.members, found.tally) == (2, "1 of 2 targets")
    assert found.details == (
        "in tables",
        "error at taxes: no rates for taxes, cannot go on",
        "to make taxes (Makefile:4)",
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("To rebuild, run `make: all`.\nThe line `make: *** x` never starts here", id="prose"),
        pytest.param("ninja: entering directory 'build'\nninja: no work to do.", id="nothing to do"),
        pytest.param("make: *** Waiting for unfinished jobs....", id="only a consequence"),
        pytest.param("FAILED: com.acme.PricesTest.labels\njava.lang.AssertionError", id="test of another tool"),
        pytest.param("ERROR: Build did NOT complete successfully", id="bazel without a cause"),
    ],
)
def test_other_texts_are_not_taken(text):
    """A text without a failed target is of another format."""
    assert facts(text).format != "make"


def test_key():
    """The key follows the cause, and not the line of the makefile."""
    first = key("no sales file, cannot report", "make: *** [Makefile:4: report] Error 3")
    assert first == key("no sales file, cannot report", "make: *** [Makefile:40: report] Error 3")
    assert first != key("no tax file, cannot report", "make: *** [Makefile:4: report] Error 3")


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(("q.sql:1:1: LT01 bad spaces", "q.sql:2:1: AL01 implicit alias"), id="findings"),
        pytest.param(("key 'amount' not known", "    while executing", "    (file 'r.tcl' line 6)"), id="any text"),
        pytest.param(
            ("Traceback (most recent call last):", '  File "/app/q.py", line 4, in <module>', "KeyError: 7"),
            id="traceback",
        ),
    ],
)
def test_recipe_that_stands_alone_keeps_the_key_of_its_output(output):
    """Whoever ran the program, it failed alike."""
    assert key(*output, "make: *** [Makefile:12: check] Error 1") == key(*output)


def test_recipes_made_at_once():
    """What make says of the second one right below the first does not mean that it failed silently."""
    found = facts("make: *** [Makefile:3: lib] Error 1\nmake: *** [Makefile:7: docs] Error 1\n")
    assert found.details[-1] == "exit code 1 at Makefile:7 in docs: the recipe for 'docs' failed"
