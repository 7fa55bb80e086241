"""What pulumi and systemd say of the programs they run."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts_as, format_of

read = facts_as("supervisors")
LOADED = "     Loaded: loaded (/etc/systemd/system/shop.service; enabled; preset: enabled)\n"
FAILED = (
    f"\u00d7 shop.service - Shop\n{LOADED}     Active: failed (Result: exit-code) since Sun 2024-08-04 16:44:57 UTC\n"
)
ENDS = "Aug 04 16:44:58 host systemd[1]: shop.service: Failed with result 'exit-code'.\n"


@pytest.mark.parametrize(
    ("journal", "said"),
    [
        pytest.param(
            "Process: 72 ExecStart=/srv/shop (code=exited, status=203/EXEC)\n   Main PID: 72 (code=exited)\n\n" + ENDS,
            ("UnitFailed", "", "shop.service: exit-code, ExecStart=/srv/shop: exited, status=203/EXEC"),
            id="not started",
        ),
        pytest.param(
            "Process: 71 ExecStartPre=/bin/true (code=exited, status=0/SUCCESS)\n    Process: 72 "
            "ExecStartPre=/usr/sbin/nginx -t (code=exited, status=1/FAILURE)\n\n"
            'Aug 04 16:44:57 host nginx[72]: nginx: [emerg] unknown directive "location/" in /etc/nginx/a.conf:4\n'
            "Aug 04 16:44:57 host nginx[72]: nginx: configuration file /etc/nginx/nginx.conf test failed\n" + ENDS,
            ("error", "/etc/nginx/a.conf:4", 'nginx: [emerg] unknown directive "location/"'),
            id="refused its configuration",
        ),
        pytest.param(
            "Process: 72 ExecStart=/usr/bin/python3 app.py (code=exited, status=1/FAILURE)\n\n"
            "Aug 04 16:44:57 host systemd[1]: Started shop.service - Shop.\n"
            "Aug 04 16:44:57 host python3[72]: Traceback (most recent call last):\n"
            'Aug 04 16:44:57 host python3[72]:   File "/srv/shop/app.py", line 8, in main\n'
            'Aug 04 16:44:57 host python3[72]:     load(os.environ["DSN"])\n'
            "Aug 04 16:44:57 host python3[72]: KeyError: 'DSN'\n" + ENDS,
            ("KeyError", "main (/srv/shop/app.py:8)", "'DSN'"),
            id="a stack in the journal",
        ),
        pytest.param(
            "Process: 72 ExecStart=/srv/shop (code=exited, status=203/EXEC)\n\n"
            "Aug 04 16:44:57 a systemd[72]: shop.service: Failed at step EXEC spawning /srv/shop: Permission denied\n"
            + ENDS,
            ("EACCES", "", "shop.service: Failed at step EXEC spawning /srv/shop: Permission denied"),
            id="what kept it from starting",
        ),
        pytest.param("Main PID: 14 (code=exi>\n\n", ("UnitFailed", "", "shop.service: exit-code"), id="cut by a pager"),
    ],
)
def test_unit(journal, said):
    """The last words of its program, else its state."""
    found = read(f"{FAILED}    {journal}")
    assert (found.type, str(found.location), found.cause) == said


def test_unit_that_restarts():
    """It has failed as well."""
    assert read(FAILED.replace("failed (", "activating (auto-restart) (")).cause == "shop.service: exit-code"


RESOURCE = """\
Diagnostics:
  pulumi:pulumi:Stack (shop-dev):
    error: update failed

  aws:s3:Bucket (assets):
    error: 1 error occurred:
    \t* creating S3 Bucket (assets): BucketAlreadyExists: not available

Resources:
    3 unchanged
"""


def test_resources():
    """That the stack failed is told by its resource; what is left of the preview counts no more."""
    preview = "Diagnostics:\n  aws:ec2:Vpc (net):\n    error: of the preview\n\nResources:\n    + 1 to create\n\n"
    found = read(f"{preview}{RESOURCE}")
    assert (found.type, found.cause, found.details) == (
        "PulumiError",
        "creating S3 Bucket (assets): BucketAlreadyExists: not available",
        ("in aws:s3:Bucket (assets)",),
    )


def test_program():
    """The stack of a program is read by its own format."""
    found = read(
        "Diagnostics:\n  pulumi:pulumi:Stack (shop-dev):\n"
        "    error: Program failed with an unhandled exception:\n    Traceback (most recent call last):\n"
        '      File "/srv/shop/__main__.py", line 7, in <module>\n        bucket(names["assets"])\n'
        "    KeyError: 'assets'\n\nResources:\n    + 1 to create\n"
    )
    assert (found.type, found.cause, str(found.location)) == (
        "KeyError",
        "'assets'",
        "<module> (/srv/shop/__main__.py:7)",
    )


@pytest.mark.parametrize(
    "text",
    [
        f"\u25cf shop.service - Shop\n{LOADED}     Active: active (running) since Sun 2024-08-04; 2h ago\n",
        "a unit is down when it says Active: failed (Result: exit-code)",
        "Diagnostics:\n  aws:s3:Bucket (assets):\n    warning: error: of old docs\n\nResources:\n    + 1 created\n",
        f"\u25cb shop.service - Shop\n{LOADED}     Active: inactive (dead) (Result: exec-condition) since Sun\n",
        "Diagnostics:\n  clang (main.c):\n    error: of a compiler\n",
        "Diagnostics:\n  pulumi:pulumi:Stack (dev):\n    error: preview failed\n\nPolicies:\n    [mandatory]  a\n",
    ],
)
def test_look_alikes(text):
    """Units that run or were skipped, a quotation, warnings, a list of others, and one that does not tell why."""
    assert format_of(text) != "supervisors"
