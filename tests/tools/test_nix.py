"""What nix says: outputs of `nix-build` and `nix build` 2.8, and of later versions."""

from __future__ import annotations

import pytest

from tests.clock import costs_little
from tests.extract.reading import facts, facts_as, format_of

read = facts_as("nix")
STORE = "/nix/store/500h67mgb7pnn9slg597qq013a6c9gaf"


def test_log_above():
    """A build that prints its log is told by what it printed since it began."""
    found = read(
        "these 2 derivations will be built:",
        f"  {STORE}-shop-1.0.drv",
        f"building '{STORE}-dep-0.3.drv'...",
        "src/old.c:1:1: error: of another build",
        f"building '{STORE}-shop-1.0.drv'...",
        "src/main.c:12:5: error: unknown type name 'foo_t'",
        f"error: builder for '{STORE}-shop-1.0.drv' failed with exit code 2",
        f"error: 1 dependencies of derivation '{STORE}-system.drv' failed to build",
    )
    assert (found.type, found.cause, str(found.location), found.details) == (
        "CompileError",
        "unknown type name 'foo_t'",
        "src/main.c:12",
        ("shop-1.0: with exit code 2",),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f"error: builder for '{STORE}-shop-1.0.drv' failed with exit code 3;\n       last 2 log lines:\n"
            "       > building\n       > KeyError: 'region'\n"
            f"       For full logs, run 'nix log {STORE}-shop-1.0.drv'.",
            id="repeated",
        ),
        pytest.param(
            f"error: Cannot build '{STORE}-shop-1.0.drv'.\n       Reason: builder failed with exit code 3.\n"
            f"       Output paths:\n         {STORE}-shop-1.0\n       Last 2 log lines:\n       > building\n"
            f"       > KeyError: 'region'\n       For full logs, run:\n         nix log {STORE}-shop-1.0.drv\n"
            f"error: Cannot build '{STORE}-system.drv'.\n       Reason: 1 dependency failed.\n"
            f"       Output paths:\n         {STORE}-system",
            id="later version",
        ),
        pytest.param(
            f"shop> building\ndep> ok\nshop> KeyError: 'region'\n"
            f"error: builder for '{STORE}-shop-1.0.drv' failed with exit code 3",
            id="marked with its name",
        ),
    ],
)
def test_log_repeated(text):
    """What nix repeats of a log, and a build that only waited for another one."""
    found = read(text)
    assert (found.type, found.cause, found.members) == ("KeyError", "'region'", 1)


def test_build_without_a_word():
    """How it ended is all that is known."""
    found = read(f"building '{STORE}-shop.drv'...", f"error: builder for '{STORE}-shop.drv' failed with exit code 1")
    assert (found.type, found.cause) == ("NixError", "shop: with exit code 1")


def test_trace():
    """The last error of a trace is the one that the others wrap."""
    frame = (
        f"       \u2026 while calling the 'seq' builtin\n\n         at {STORE}-source/lib/modules.nix:334:18:\n\n"
        "          333|         options = checked options;\n          334|         config = checked config;\n"
        "             |                  ^\n\n"
    )
    found = read(
        f"error:\n{frame * 9}       error: undefined variable 'pkgz'\n\n"
        "       at /etc/nixos/configuration.nix:41:34:\n\n"
        "           40|\n           41|   environment.systemPackages = with pkgz; [ git ];\n"
        "             |                                  ^"
    )
    assert (found.type, found.cause, str(found.location), found.details) == (
        "NixError",
        "undefined variable 'pkgz'",
        "/etc/nixos/configuration.nix:41",
        ("> environment.systemPackages = with pkgz; [ git ];",),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "error: syntax error, unexpected '=', expecting ';'\n\n       at /srv/shop.nix:1:11:",
            ("syntax error, unexpected '=', expecting ';'", "/srv/shop.nix:1", ()),
            id="without its line",
        ),
        pytest.param(
            "error: attribute 'region' missing\n\n       at /srv/shop.nix:1:12:\n\n"
            "            1| let f = x: x.region + 1;\n             |            ^\n"
            "            2| in { a = f { zone = 1; }; }\n\n       \u2026 while evaluating 'f'\n\n"
            "       at /srv/shop.nix:1:9:\n\n            1| let f = x: x.region + 1;\n             |         ^",
            ("attribute 'region' missing", "/srv/shop.nix:1", ("> let f = x: x.region + 1;",)),
            id="trace behind it",
        ),
    ],
)
def test_evaluation(text, said):
    """What nix 2.8 says of an expression, with and without `--show-trace`."""
    found = read(text)
    assert (found.cause, str(found.location), found.details) == said


@pytest.mark.parametrize("kept", ["error: attribute 'a' missing\n", "builder for '/nix/store/a.drv' failed\n"])
def test_hostile(kept):
    """Many builds and errors cost no more than their length."""
    build = f"error: builder for '{STORE}-shop-1.0.drv' failed with exit code 1\n"
    assert costs_little(lambda: facts((kept + build) * 400))


@pytest.mark.parametrize(
    "text",
    [
        f"building '{STORE}-shop-1.0.drv'...\nrunning tests\nerror: handled ... ok\n{STORE}-shop-1.0",
        f"as was said: error: builder for '{STORE}-shop-1.0.drv' failed with exit code 2",
        "error: no order\n\n       at once",
    ],
)
def test_look_alikes(text):
    """A build that went well, a quotation, an error of another program."""
    assert format_of(text) != "nix"


def test_command_in_a_builder_that_is_missing():
    """An older form, without the word before it."""
    found = facts(
        f"{STORE}-default-builder.sh: line 1: source: {STORE}-stdenv/setup: cannot execute binary file\n"
        f"builder for '{STORE}-firmware.drv' failed with exit code 126\n"
        f"cannot build derivation '{STORE}-system.drv': 1 dependencies couldn't be built"
    )
    assert (found.format, found.type) == ("nix", "NotExecutable")
