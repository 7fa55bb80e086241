"""What cargo says before it compiles, and rustup."""

# ruff: noqa: E501 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

SCRIPT = "error: failed to run custom build command for `shop v0.1.0 (/src/shop)`\n\nCaused by:\n  process didn't exit successfully: `/src/shop/target/debug/build/shop-1c92/build-script-build` (exit status: {})"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "details"),
    [
        pytest.param(
            "error: failed to get `a` as a dependency of package `shop v0.1.0`\n\nCaused by:\n  failed to fetch into: /src\n\n"
            "Caused by:\n  network failure seems to have happened\n  if a proxy is needed, set it\n\nCaused by:\n  timed out",
            "ResolutionError",
            "network failure seems to have happened; if a proxy is needed, set it: timed out",
            ("failed to get `a` as a dependency of package `shop v0.1.0`",),
            id="short root with what is above it",
        ),
        pytest.param(
            "error: failed to parse manifest at `/src/shop/Cargo.toml`\n\nCaused by:",
            "ManifestError",
            "failed to parse manifest at `/src/shop/Cargo.toml`",
            (),
            id="cut off before the cause",
        ),
        pytest.param(
            "error: a bin target must be available for `cargo run`",
            "TargetError",
            "a bin target must be available for `cargo run`",
            (),
            id="headline alone",
        ),
        pytest.param(
            "error: package `a v1.2.0` cannot be built because it requires rustc 1.80 or newer, while the currently active rustc version is 1.70",
            "ResolutionError",
            "package `a v1.2.0` cannot be built because it requires rustc 1.80 or newer, while the currently active rustc version is 1.70",
            (),
            id="compiler too old",
        ),
        pytest.param(
            "error: toolchain 'nightly-x86_64-unknown-linux-gnu' is not installed\nhelp: run `rustup toolchain install nightly`",
            "ToolchainError",
            "toolchain 'nightly-x86_64-unknown-linux-gnu' is not installed",
            ("help: run `rustup toolchain install nightly`",),
            id="toolchain",
        ),
        pytest.param(
            "error: process didn't exit successfully: `target/debug/shop` (exit status: 3)",
            "exit code 3",
            "process didn't exit successfully: `target/debug/shop` (exit status: 3)",
            (),
            id="program",
        ),
        pytest.param(
            "error: process didn't exit successfully: `target/debug/shop` (signal: 11, SIGSEGV: invalid memory reference)",
            "signal: 11, SIGSEGV: invalid memory reference",
            "process didn't exit successfully: `target/debug/shop` (signal: 11, SIGSEGV: invalid memory reference)",
            (),
            id="program ended by a signal",
        ),
        pytest.param(
            SCRIPT.format(1),
            "BuildScriptError",
            "process didn't exit successfully: `/src/shop/target/debug/build/shop-1c92/build-script-build` (exit status: 1)",
            ("failed to run custom build command for `shop v0.1.0 (/src/shop)` (exit status: 1)",),
            id="silent build script",
        ),
        pytest.param(
            "error: failed to run custom build command for `shop v0.1.0 (/src/shop)`",
            "BuildScriptError",
            "failed to run custom build command for `shop v0.1.0 (/src/shop)`",
            (),
            id="build script, cut off",
        ),
        pytest.param(
            SCRIPT.format(1) + "\n  --- stderr\n  hello",
            "BuildScriptError",
            "hello",
            ("failed to run custom build command for `shop v0.1.0 (/src/shop)` (exit status: 1)",),
            id="build script without a telling word",
        ),
        pytest.param(
            "error: failed to select a version for `a`.\nversions that meet the requirements `^1` are: 1.0.0",
            "ResolutionError",
            "failed to select a version for `a`.",
            (),
            id="resolution, cut off",
        ),
    ],
)
def test_facts(text, kind, cause, details):
    """The last cause below a headline is the root; the headline says what it was for."""
    found = facts(text)
    assert (found.format, found.type, found.cause, found.details) == ("cargo", kind, cause, details)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("error: expected one of `!` or `::`, found `(`", id="compiler"),
        pytest.param("error: process didn't exit successfully: `a", id="cut within a line"),
        pytest.param("error: no such option: --naem", id="another program"),
        pytest.param("to mend it, see error: failed to parse manifest", id="prose"),
    ],
)
def test_other_texts_are_not_taken(text):
    """What cargo has no form for is of another format."""
    assert facts(text).format != "cargo"


def test_key():
    """The key follows the crate and the version, and not the folder of the build."""
    text = "error: failed to get `a`\n\nCaused by:\n  failed to read `/home/{}/a/Cargo.toml`\n\nCaused by:\n  {} (os error 2)"
    first = key(text.format("ann", "No such file or directory"))
    assert first == key(text.format("bob", "No such file or directory"))
    assert first != key(text.format("ann", "Permission denied"))
