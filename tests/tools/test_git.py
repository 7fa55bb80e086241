"""What git, its hooks, pre-commit and husky say; messages of remotes that need an account are written by hand."""

# ruff: noqa: E501 - what tools print is not broken

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("lines", "kind", "cause"),
    [
        pytest.param(
            (
                "Cloning into 'shop'...",
                "git@github.com: Permission denied (publickey).",
                "fatal: Could not read from remote repository.",
                "",
                "Please make sure you have the correct access rights",
            ),
            "AuthenticationFailed",
            "git@github.com: Permission denied (publickey).",
            id="key refused",
        ),
        pytest.param(("fatal: cannot open the table 'orders'",), "fatal", "cannot open the table 'orders'", id="of others"),
        pytest.param(
            ("Cloning into 'shop'...", "ERROR: Repository not found.", "fatal: Could not read from remote repository."),
            "GitError",
            "Repository not found.",
            id="said by the remote",
        ),
        pytest.param(
            ("fatal: Could not read from remote repository.",),
            "RemoteError",
            "Could not read from remote repository.",
            id="head cut off",
        ),
        pytest.param(
            ("fatal: could not read Username for 'https://example.org': terminal prompts disabled",),
            "AuthenticationFailed",
            "could not read Username for 'https://example.org': terminal prompts disabled",
            id="no password",
        ),
        pytest.param(
            ("fatal: detected dubious ownership in repository at '/src'",),
            "DubiousOwnership",
            "detected dubious ownership in repository at '/src'",
            id="ownership",
        ),
        pytest.param(
            ("error: Committing is not possible because you have unmerged files.", "fatal: Exiting because of an unresolved conflict."),
            "UncleanWorktree",
            "Committing is not possible because you have unmerged files.",
            id="unmerged files",
        ),
        pytest.param(("error: src refspec mian does not match any",), "GitError", "src refspec mian does not match any", id="refspec"),
        pytest.param(
            ("error: The following untracked working tree files would be overwritten by merge:",),
            "UncleanWorktree",
            "The following untracked working tree files would be overwritten by merge:",
            id="list cut off",
        ),
        pytest.param(
            ("CONFLICT (modify/delete): a.py deleted in HEAD and modified in main.",),
            "MergeConflict",
            "a.py deleted in HEAD and modified in main.",
            id="modified and deleted",
        ),
        pytest.param(
            ("remote: error: GH006: Protected branch update failed.", "remote: ", " ! [remote rejected] main -> main"),
            "PushRejected",
            "main -> main remote rejected: error: GH006: Protected branch update failed.",
            id="protected branch",
        ),
        pytest.param(('nothing added to commit but untracked files present (use "git add" to track)',), "NothingToCommit",
                     "nothing added to commit but untracked files present", id="nothing added"),
    ],
)  # fmt: skip
def test_facts(lines, kind, cause):
    """What git refused is the cause, without its advice."""
    found = facts(*lines)
    assert (found.format, found.type, found.cause) == ("git", kind, cause)


def test_one_conflict_has_a_place():
    """A conflict in one file is at that file."""
    found = facts("CONFLICT (content): Merge conflict in src/cart.py")
    assert (str(found.location), found.members, found.tally) == ("src/cart.py", 1, "")


@pytest.mark.parametrize(
    ("lines", "kind", "cause", "details"),
    [
        pytest.param(
            ("format....Failed", "- hook id: format", "- files were modified by this hook"),
            "HookFailed",
            "hook format: files were modified by this hook",
            ("in format", "files were modified by this hook"),
            id="formatter",
        ),
        pytest.param(
            (
                "lint.....(no files to check)Skipped",
                "keys.....Failed",
                "- hook id: keys",
                "- exit code: 2",
                "",
                "cp: a: Permission denied",
            ),
            "EACCES",
            "cp: a: Permission denied",
            ("in keys",),
            id="command that fails",
        ),
        pytest.param(
            ("3 files without a header", "husky - pre-commit hook exited with code 1 (error)"),
            "HookFailed",
            "3 files without a header",
            ("in pre-commit", "exit code 1"),
            id="husky",
        ),
    ],
)
def test_hooks(lines, kind, cause, details):
    """Of a hook that failed, what it said is the cause."""
    found = facts(*lines)
    assert (found.format, found.type, found.cause, found.details) == ("git", kind, cause, details)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('fatal: [web1]: FAILED! => {"msg": "no route"}', id="ansible"),
        pytest.param("error: expected ';' before 'return'", id="compiler"),
        pytest.param("the hook CONFLICT (x) to commit", id="prose"),
        pytest.param("! [rejected] is what git prints to commit", id="documentation"),
    ],
)
def test_other_texts_are_not_taken(text):
    """What is not said by git is of another format."""
    assert facts(text).format != "git"


def test_key():
    """The key follows the branch, and not the ids of commits."""
    text = "CONFLICT (content): Merge conflict in {}\nerror: could not apply {}... rounding"
    first = key(text.format("a.py", "e3611da"))
    assert first == key(text.format("a.py", "90ab12f"))
    assert first != key(text.format("b.py", "e3611da"))


HUNK = """\
CONFLICT (content): Merge conflict in cart.py
++<<<<<<< HEAD
 +        total += item.price * item.quantity
++||||||| 9f8e7d6
++        total += item.price
++=======
+         total += item.taxed() * item.quantity
+         audit(item)
++>>>>>>> feature/vat
"""


def test_the_sides_of_a_short_conflict_are_shown():
    """Under their own names, a common base too, so that the agent can decide at sight."""
    assert facts(HUNK).details == (
        "HEAD: total += item.price * item.quantity",
        "base: total += item.price",
        "feature/vat: total += item.taxed() * item.quantity / audit(item)",
    )


def test_a_side_may_be_empty_or_without_a_name():
    """A deletion is told as one."""
    text = "CONFLICT (content): Merge conflict in a.py\n<<<<<<<\n=======\nlimit = 3\n>>>>>>>\n======= no conflict"
    assert facts(text).details == ("ours: (nothing)", "theirs: limit = 3")


def test_a_long_conflict_is_left_to_the_file():
    """It can be found again at the place that is named."""
    long = "\n".join(f"rate {number}" for number in range(9))
    assert facts(HUNK.replace("+         audit(item)", long)).details == ()
