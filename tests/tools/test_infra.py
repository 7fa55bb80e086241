"""What kubectl, helm, terraform and ansible say; samples that need a cluster are written by hand."""

from __future__ import annotations

import pytest

from tests.extract.reading import facts, key


@pytest.mark.parametrize(
    ("text", "kind", "cause"),
    [
        pytest.param(
            'Error from server (NotFound): pods "web" not found', "NotFound", 'pods "web" not found', id="server"
        ),
        pytest.param(
            "Error from server: etcdserver: request timed out",
            "ServerError",
            "etcdserver: request timed out",
            id="no reason",
        ),
        pytest.param(
            'error: the server doesn\'t have a resource type "pdos"',
            "KubectlError",
            'the server doesn\'t have a resource type "pdos"',
            id="resource type",
        ),
        pytest.param(
            "Error: INSTALLATION FAILED: cannot re-use a name that is still in use",
            "HelmError",
            "INSTALLATION FAILED: cannot re-use a name that is still in use",
            id="helm",
        ),
        pytest.param(
            "Unable to connect to the server: dial tcp: lookup k8s.invalid: no such host",
            "ServerUnreachable",
            "Unable to connect to the server: dial tcp: lookup k8s.invalid: no such host",
            id="unreachable",
        ),
        pytest.param(
            "ERROR: (gcloud.compute.networks.create) Could not fetch resource:\n - Failed to find project shop\n",
            "GcloudError",
            "Could not fetch resource: Failed to find project shop",
            id="gcloud with a list",
        ),
        pytest.param(
            "ERROR: (gcloud) Invalid choice: 'fooo'.\nUsage: gcloud [optional flags] <group | command>",
            "GcloudError",
            "Invalid choice: 'fooo'.",
            id="gcloud itself",
        ),
        pytest.param(
            "ERROR: (gcloud.storage.cp) HTTPError: 403 Access denied to gs://shop",
            "HTTPError",
            "403 Access denied to gs://shop",
            id="gcloud's own type",
        ),
    ],
)
def test_cluster(text, kind, cause):
    """What the cluster or its client refuses is the cause, under the server's own name for it."""
    found = facts(text)
    assert (found.format, found.type, found.cause) == ("infra", kind, cause)


def test_terraform_with_margin():
    """The frame that terraform draws around a diagnostic is taken off; a resource may stand for a place."""
    found = facts("""
        \u2577
        \u2502 Error: creating S3 Bucket (shop): BucketAlreadyExists
        \u2502
        \u2502   with aws_s3_bucket.shop,
        \u2502   on main.tf line 4, in resource "aws_s3_bucket" "shop":
        \u2502    4: resource "aws_s3_bucket" "shop" {
        \u2502
        \u2575
    """)
    assert (str(found.location), found.cause, found.details) == (
        "resource aws_s3_bucket shop (main.tf:4)",
        "creating S3 Bucket (shop): BucketAlreadyExists",
        ('> resource "aws_s3_bucket" "shop" {',),
    )


def test_terraform_in_a_box_needs_no_place():
    """What stands in the box is the diagnostic, and what stands behind it is not."""
    found = facts(
        "Initializing modules...\n\u2577\n\u2502 Error: Failed to query packages\n\u2502 \n"
        "\u2502 no release matches >= 4.0.0,\n\u2502 ~> 4.67\n\u2575\nuploaded the log"
    )
    assert found.cause == "Failed to query packages: no release matches >= 4.0.0, ~> 4.67"


def test_terraform_below_other_output():
    """The first paragraph is the cause; fields, and what a later one announces, are told line by line."""
    found = facts(
        "Acquiring state lock.",
        "\u2577",
        "\u2502 Error: Error acquiring the state lock",
        "\u2502 ",
        "\u2502 The conditional request failed",
        "\u2502 ",
        "\u2502   Path:      depot/prod.tfstate",
        "\u2502   Who:       ci@runner-31",
        "\u2502 ",
        "\u2502 To see who holds it, run the",
        "\u2502 following command:",
        "\u2502     terraform show",
        "\u2575",
    )
    assert found.cause == "Error acquiring the state lock: The conditional request failed"
    assert found.details == (
        "Path: depot/prod.tfstate",
        "Who: ci@runner-31",
        "To see who holds it, run the following command: terraform show",
    )


def test_terraform_without_a_line():
    """A diagnostic that names only the resource has no place."""
    found = facts("Error: quota exceeded\n\n  with aws_instance.web,\n\nAsk for more.")
    assert (found.format, str(found.location), found.cause) == ("infra", "", "quota exceeded: Ask for more.")


def test_ansible():
    """Hosts on which a task failed for one reason are one cause; the task is a detail."""
    found = facts("""
        TASK [install shop] ****
        ok: [db1]
        fatal: [web1]: FAILED! => {"changed": false, "msg": "No package shop available"}
        fatal: [web2]: FAILED! => {"changed": false, "msg": "No package shop available"}
    """)
    assert (found.type, found.cause, found.tally) == ("AnsibleFailed", "No package shop available", "2 hosts")
    assert found.details == ("in web1, web2", "task: install shop")


@pytest.mark.parametrize(
    ("result", "cause"),
    [
        pytest.param('{"msg": "non-zero return code", "stderr": "no space"}', "no space", id="standard error"),
        pytest.param('{"msg": "cut o', '{"msg": "cut o', id="cut off"),
        pytest.param("{}", "{}", id="empty"),
    ],
)
def test_result_of_ansible(result, cause):
    """The standard error tells more than the message; a result that is cut off is shown as it is."""
    found = facts(f"fatal: [web1]: UNREACHABLE! => {result}")
    assert (found.format, found.type, found.cause, found.details) == (
        "infra",
        "AnsibleUnreachable",
        cause,
        ("in web1",),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Error: boom\n  with care", id="title of another program"),
        pytest.param("Error: boom\n\n  on Monday", id="prose"),
        pytest.param("Warning: deprecated\n\n  on main.tf line 4:\n", id="warning"),
        pytest.param('the log says "fatal: [web1]: FAILED"', id="mention"),
    ],
)
def test_other_texts_are_not_taken(text):
    """What none of the tools said is of another format."""
    assert facts(text).format != "infra"


def test_key():
    """The key follows the resource, and not the line."""
    text = (
        'Error: Unsupported argument\n\n  on main.tf line {}, in resource "a" "{}":\n   6:   x = 1\n\nNo such argument.'
    )
    first = key(text.format(6, "b"))
    assert first == key(text.format(60, "b"))
    assert first != key(text.format(6, "c"))


def test_a_long_title_is_one_of_terraform_too():
    """However long the sentence of a provider is, its place stands below it."""
    found = facts(
        f'Error: creating role: {"denied " * 80}\n\n  with aws_iam_role.web,\n  on main.tf line 41, in resource "x":'
    )
    assert found is not None
    assert (found.type, found.location.file, found.location.line) == ("TerraformError", "main.tf", 41)
