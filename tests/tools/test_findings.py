from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_errcompact.dedup.key import dedup_key, template_of
from otel_errcompact.extract.findings.places import find_place
from otel_errcompact.tools.findings import names_place
from tests.extract.reading import facts as facts_of
from tests.extract.reading import format_of

SHELLCHECK = """
In run.sh line 3:
rm -rf $target/build
       ^-----^ SC2086 (info): Double quote to prevent globbing and word splitting.

Did you mean:
rm -rf "$target"/build


In run.sh line 4:
for f in `ls *.txt`; do
         ^--------^ SC2045 (error): Iterating over ls output is fragile. Use globs.
         ^--------^ SC2006 (style): Use $(...) notation instead of legacy backticks `...`.

For more information:
  https://www.shellcheck.net/wiki/SC2045 -- Iterating over ls output is fragi..."""

BANDIT = """Test results:
>> Issue: [B602:subprocess_popen] subprocess call with shell=True identified, security issue.
   Severity: High   Confidence: High
   Location: ./shop.py:8:4
7\t        result += i.price
8\t    subprocess.call("ls " + items[0], shell=True)

--------------------------------------------------
>> Issue: [B324:hashlib] Use of weak MD5 hash for security.
   Severity: High   Confidence: High
   Location: ./shop.py:10:11"""

SQLFLUFF = """== [q.sql] FAIL
L:   1 | P:   1 | LT09 | Select targets should be on a new line unless there is
                       | only one select target. [layout.select_targets]
L:   2 | P:  17 | LT02 | Expected line break and no indent before 'ORDER'.
All Finished!"""

PHPSTAN = """ ------ ---------------------------------------------------------
  Line   src/Cart.php
 ------ ---------------------------------------------------------
  12     Call to an undefined method App\\Cart::totl().
  19     Parameter #1 $price of method App\\Cart::add() expects int,
         string given.
 ------ ---------------------------------------------------------

 [ERROR] Found 2 errors"""

ONE_FINDING = {
    "hadolint": (
        "Dockerfile:2 DL4000 error: MAINTAINER is deprecated\nDockerfile:2 DL4000 error: MAINTAINER is deprecated",
        ("DL4000", "Dockerfile:2", "MAINTAINER is deprecated"),
    ),
    "yamllint": (
        "deploy.yml:8:15: [error] too many spaces after colon (colons)",
        ("colons", "deploy.yml:8", "too many spaces after colon"),
    ),
    "markdownlint": (
        "README.md:7:81 error MD013/line-length Line length [Expected: 80; Actual: 117]",
        ("MD013/line-length", "README.md:7", "Line length [Expected: 80; Actual: 117]"),
    ),
    "cfn-lint": (
        "E3003 'Role' is a required property\ntpl.yaml:8:5\n",
        ("E3003", "tpl.yaml:8", "'Role' is a required property"),
    ),
    "solc": (
        'DeclarationError: Undeclared identifier. Did you mean "total"?\n --> shop.sol:3:59:\n  |\n3 | totl += x;\n',
        ("DeclarationError", "shop.sol:3", 'Undeclared identifier. Did you mean "total"?'),
    ),
    "oxlint": (
        (
            "  \u00d7 eslint(no-debugger): `debugger` statement is not allowed\n"
            "   \u256d\u2500[good.js:1:1]\n 1 \u2502 debugger\n"
        ),
        ("no-debugger", "good.js:1", "`debugger` statement is not allowed"),
    ),
    "verilator": (
        "%Error: top.v:7:12: Can't find definition of variable: 'cont'\n%Error: Exiting due to 1 error(s)",
        ("error", "top.v:7", "Can't find definition of variable: 'cont'"),
    ),
    "ocaml": (
        'File "bin/main.ml", line 3, characters 4-10:\n3 |     foo 1\n        ^^^\nError: Unbound value foo',
        ("error", "bin/main.ml:3", "Unbound value foo"),
    ),
    "perl": (
        'syntax error at bad.pl line 3, near "print"\nbad.pl had compilation errors.',
        ("error", "bad.pl:3", 'syntax error near "print"'),
    ),
    "pydocstyle": (
        "shop.py:4 in public function `total`:\n        D103: Missing docstring in public function",
        ("D103", "shop.py:4", "Missing docstring in public function (in public function `total`)"),
    ),
    "htmlhint": (
        (
            "   web/page.html\n      L7 |<div><p>hi</div>\n"
            "              ^ Tag must be paired, missing: [ </p> ] (tag-pair)"
        ),
        ("tag-pair", "web/page.html:7", "Tag must be paired, missing: [ </p> ]"),
    ),
    "ansible-lint": (
        "name[missing]: All tasks should be named.\nsite.yml:3 Task/Handler: shell apt-get install nginx",
        ("name[missing]", "site.yml:3", "All tasks should be named."),
    ),
    "terraform tools": (
        'Warning: Module "vpc" is not pinned (module_pinned)\n\n  on main.tf line 3, in module "vpc":\n   3: module',
        ("module_pinned", "main.tf:3", 'Module "vpc" is not pinned'),
    ),
}


@pytest.mark.parametrize("tool", ONE_FINDING)
def test_one_finding(tool):
    """Rule, place and message are found in the layout of each tool."""
    text, expected = ONE_FINDING[tool]
    facts = facts_of(text)
    assert (facts.type, str(facts.location), facts.cause) == expected


def test_findings_below_a_line_of_code():
    """An error comes first, what is told as a warning follows it and does not count."""
    facts = facts_of(SHELLCHECK)
    assert (facts.type, str(facts.location), facts.tally) == ("SC2045", "run.sh:4", "")
    assert facts.details == (
        "warning SC2086 at run.sh:3: Double quote to prevent globbing and word splitting.",
        "warning SC2006 at run.sh:4: Use $(...) notation instead of legacy backticks `...`.",
    )


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (BANDIT, ["B602:subprocess_popen at shop.py:8", "B324:hashlib at shop.py:10"]),
        (SQLFLUFF, ["LT09 at q.sql:1", "LT02 at q.sql:2"]),
        (PHPSTAN, ["error at src/Cart.php:12", "error at Cart.php:19"]),
    ],
)
def test_all_findings_are_told(text, places):
    """A list is told item by item."""
    facts = facts_of(text)
    told = [f"{facts.type} at {facts.location}: {facts.cause}", *facts.details]
    assert [line.partition(": ")[0] for line in told] == places


def test_rows_that_are_wrapped():
    """What stands below a row in its column belongs to its message."""
    assert facts_of(SQLFLUFF).cause == (
        "Select targets should be on a new line unless there is only one select target. [layout.select_targets]"
    )
    assert facts_of(PHPSTAN).details == (
        "error at Cart.php:19: Parameter #1 $price of method App\\Cart::add() expects int, string given.",
    )


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-02 10:00:00 INFO server.py:33 started\n2026-01-02 10:00:01 INFO server.py:40 ready",
        "    at Object.run (/srv/app/main.js:3:5)\n    at next (/srv/app/main.js:9:1)",
        "db.example.com:5432 error",
        "PASSED for resource: aws_s3_bucket.b\n\tFile: /main.tf:1-5",
        "#1  0x00007ffff7a in main (argc=1) at main.c:12",
        "10.0.0.1:80 10:30 12.5:3",
    ],
)
def test_no_findings(text):
    """Records of logs, frames, hosts and checks that passed are no findings."""
    assert format_of(text) != "findings"


def key(text):
    facts = facts_of(text)
    return dedup_key(facts, template_of(facts))


def test_keys():
    """Lines and order do not matter; a rule or a name does."""
    one = 'a.yml:3:1: [error] duplication of key "port" (key-duplicates)\nb.yml:9:1: [error] trailing spaces (trailing)'
    other = (
        'b.yml:2:1: [error] trailing spaces (trailing)\na.yml:7:1: [error] duplication of key "port" (key-duplicates)'
    )
    assert key(one) == key(other)
    assert key(one) != key(one.replace('"port"', '"host"'))
    assert key(one) != key(one.replace("(trailing)", "(empty)"))


def test_second_places():
    """A place without severity and rule among findings belongs to the finding before it."""
    facts = facts_of(
        "TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.\n    at file:///app/t.ts:2:19\n\n"
        "    The expected type comes from property 'price' which is declared here on type 'Item'\n"
        "        at file:///app/t.ts:1:18\n"
    )
    assert (facts.type, str(facts.location), facts.members) == ("TS2322", "/app/t.ts:2", 1)
    assert facts.details == (
        "note: The expected type comes from property 'price' which is declared here on type 'Item' at /app/t.ts:1",
    )


def test_lists_without_words_of_failure():
    """Lines that all begin with a place are findings, whatever they say."""
    facts = facts_of("README.md:9: teh ==> the\nREADME.md:12: recieve ==> receive")
    assert (facts.format, facts.cause, facts.tally) == ("findings", "teh ==> the", "1 of 2 findings")


COUNTED = """/srv/page.html
  5:2   error  <img> is missing required "alt" attribute        wcag/h37
  7:2   error  <input> is missing recommended "type" attribute  no-implicit-input-type
  7:16  error  <input> is missing recommended "type" attribute  no-implicit-input-type

"""


def test_equal_findings_that_the_tool_counts_are_several():
    """Two in one line are told twice; printed again by another program they are one."""
    found = facts_of(f"{COUNTED}✖ 3 problems (3 errors, 0 warnings)")
    assert (found.members, found.details[-1].endswith("(2x: page.html:7)")) == (3, True)
    found = facts_of(f"{COUNTED}✖ 2 problems (2 errors, 0 warnings)")
    assert found.members == 2
    assert not any("not in the text" in line for line in found.details)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        pytest.param("src/app.py:12: bad", "src/app.py:12", id="a file"),
        pytest.param("the folder build/ line 4, then a.py:7", "a.py:7", id="after a folder"),
        pytest.param("retry /tmp/out/:3 later", None, id="a folder"),
        pytest.param("see src/app.:12", None, id="a name that ends with a full stop"),
        pytest.param('File "https://example.org/a.py", line 3', None, id="an address"),
        pytest.param("registry.example.com:5000 refused", None, id="a host"),
    ],
)
def test_only_a_file_is_a_place(line, place):
    """Hosts, folders and addresses have numbers behind them as well."""
    found = find_place(line)
    assert (found and str(found.location)) == place


@given(
    st.lists(
        st.sampled_from(["a.c", "_", "1", "42", ":", "(", ")", ">", "]", "line", "Line", " ", "|", "\n", "\u00e9", "-"])
    )
)
def test_a_place_is_a_number_behind_a_file_or_the_word_line_or_before_a_bar(parts: list[str]) -> None:
    """Each form is looked for by a character that few texts hold, and found wherever it stands."""
    body = "".join(parts)
    form = r"[\w\])>][:(][0-9]|\bline:? ?[0-9]|^ *[0-9]{1,6}[ :|]|[0-9] \|"
    assert names_place(body) == (re.search(form, body, re.MULTILINE) is not None)
