"""What package managers of systems say; apk, brew and pacman are written by hand."""

# ruff: noqa: E501 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key

MIRRORS = """
    Ign:1 http://deb.example.org/debian bookworm InRelease
    Err:1 http://deb.example.org/debian bookworm InRelease
      Temporary failure resolving 'deb.example.org'
    Err:2 http://deb.example.org/debian bookworm-updates InRelease
      Temporary failure resolving 'deb.example.org'
    W: Failed to fetch http://deb.example.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.example.org'
    W: Failed to fetch http://deb.example.org/debian/dists/bookworm-updates/InRelease  Temporary failure resolving 'deb.example.org'
    W: Some index files failed to download. They have been ignored, or old ones used instead.
"""


def test_mirrors():
    """Mirrors that fail alike are one cause."""
    found = facts(MIRRORS)
    assert (found.format, found.type, found.cause, found.tally) == (
        "apt",
        "FetchError",
        "Temporary failure resolving 'deb.example.org'",
        "2 errors",
    )
    assert found.details == ("in deb.example.org bookworm, deb.example.org bookworm-updates",)


def test_mirrors_whose_end_is_cut_off():
    """Without the summary, the progress tells the same."""
    found = facts(MIRRORS[: MIRRORS.index("    W: ")])
    assert (found.cause, found.tally) == ("Temporary failure resolving 'deb.example.org'", "2 errors")


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(
            "E: Failed to fetch http://deb.example.org/pool/a_1.deb  404  Not Found [IP: 192.0.2.1 80]\nE: Unable to fetch some archives",
            "FetchError",
            "404 Not Found",
            id="gone from the mirror",
        ),
        pytest.param(
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 20125 (apt-get)\n"
            "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?",
            "LockHeld",
            "Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 20125 (apt-get)",
            id="lock",
        ),
        pytest.param(
            "E: Sub-process /usr/bin/dpkg returned an error code (1)",
            "AptError",
            "Sub-process /usr/bin/dpkg returned an error code (1)",
            id="head cut off",
        ),
        pytest.param(
            "W: GPG error: http://deb.example.org sid InRelease: NO_PUBKEY 0E98404D386FA1D9",
            "SignatureError",
            "GPG error: http://deb.example.org sid InRelease: NO_PUBKEY 0E98404D386FA1D9",
            id="key",
        ),
        pytest.param(
            """
            dpkg: dependency problems prevent configuration of shop:
             shop depends on libmoney2; however:
              Package libmoney2 is not installed.

            dpkg: error processing package shop (--install):
             dependency problems - leaving unconfigured
            """,
            "UnmetDependencies",
            "shop depends on libmoney2; however: Package libmoney2 is not installed.",
            id="dpkg, dependencies",
        ),
        pytest.param(
            "Setting up shop (1.4.0) ...\n/var/lib/dpkg/info/shop.postinst: 3: shopctl: not found\n"
            "dpkg: error processing package shop (--configure):\n installed shop package post-installation script failed",
            "CommandNotFound",
            "shopctl: command not found",
            id="dpkg, script",
        ),
        pytest.param(
            "dpkg: error processing package shop (--configure):",
            "DpkgError",
            "no message",
            id="dpkg, cut off",
        ),
        pytest.param(
            "dpkg: error: requested operation requires superuser privilege",
            "DpkgError",
            "requested operation requires superuser privilege",
            id="dpkg, no root",
        ),
        pytest.param(
            "No match for argument: shop\nError: Unable to find a match: shop",
            "DnfError",
            "Unable to find a match: shop",
            id="dnf",
        ),
        pytest.param(
            "Error: \n Problem: conflicting requests\n  - nothing provides libmoney needed by shop-1.4.noarch",
            "DnfError",
            "conflicting requests",
            id="dnf, dependencies",
        ),
        pytest.param(
            "ERROR: unable to select packages:\n  libmony (no such package):\n    required by: world[libmony]",
            "ApkError",
            "unable to select packages: libmony (no such package):",
            id="apk",
        ),
        pytest.param(
            'Error: No available formula with the name "libmony".',
            "BrewError",
            'No available formula with the name "libmony".',
            id="brew",
        ),
        pytest.param("error: target not found: libmony", "PacmanError", "target not found: libmony", id="pacman"),
    ],
)
def test_facts(text, kind, cause):
    """What could not be installed, and why, is the cause; what only follows from it is not."""
    found = facts(text)
    assert (found.format, found.type, found.cause) == ("apt", kind, cause)


def test_several_packages_with_unmet_dependencies():
    """Each package with dependencies that cannot be met is a failure of its own."""
    found = facts("""
        The following packages have unmet dependencies:
         shop : Depends: libmoney2 but it is not installable
         till : Depends: shop but it is not going to be installed
                Conflicts: old-till
        E: Unable to correct problems, you have held broken packages.
    """)
    assert (found.cause, found.tally) == ("shop: Depends: libmoney2 but it is not installable", "1 of 2 errors")
    assert found.details == (
        "UnmetDependencies: till: Depends: shop but it is not going to be installed; Conflicts: old-till",
    )


def test_unmet_dependencies_that_are_cut_off():
    """A list that is cut off right behind its heading leaves what apt says in the end."""
    found = facts(
        "The following packages have unmet dependencies:\nE: Unable to correct problems, you have held broken packages."
    )
    assert found.cause == "Unable to correct problems, you have held broken packages."


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("TYPE: a\nW: a warning of something", id="other labels"),
        pytest.param("run dpkg -i to install it", id="prose"),
        pytest.param("Error: boom", id="any error"),
        pytest.param("Err:1 http://deb.example.org sid InRelease", id="progress without a reason"),
    ],
)
def test_other_texts_are_not_taken(text):
    """What no package manager said is of another format."""
    assert facts(text).format != "apt"


def test_key():
    """The key follows the reason, and not which mirrors failed or how many."""
    first = key(MIRRORS)
    fewer = "\n".join(line for line in MIRRORS.split("\n") if "updates" not in line)
    assert first == key(fewer)
    assert first != key(MIRRORS.replace("deb.example.org", "deb.example.com"))
