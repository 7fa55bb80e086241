"""Temporary folders, which have long names and say nothing, are named once."""

from __future__ import annotations

import pytest

from otel_errcompact.compactor.classify import classify
from otel_errcompact.errors import Evidence, Facts, Location, RawError
from otel_errcompact.extract.folding import fold_temporary


@pytest.mark.parametrize(
    "root",
    [
        "/tmp/tmp.Xy12ab/",
        "/private/var/folders/ab/c1d2e3f4/T/pytest-of-dev/",
        "C:\\Users\\dev\\AppData\\Local\\Temp\\build-81\\",
    ],
)
def test_a_temporary_folder_is_named_once(root: str) -> None:
    """A path below a folder that was named before shows that its beginning is left out."""
    facts = Facts(
        type="E1",
        cause="no rule",
        details=(f"in {root}a.py:3", f"in {root}b.py:9 and {root}c.py", "in src/d.py"),
        evidence=(Evidence(f"{root}e.cfg: key 'x'", 4),),
    )
    folded = fold_temporary(facts)
    left = f"...{root[-1]}"
    assert folded.details == (f"in {root}a.py:3", f"in {left}b.py:9 and {left}c.py", "in src/d.py")
    assert folded.evidence == (Evidence(f"{left}e.cfg: key 'x'", 4),)


def test_the_place_names_the_folder_first() -> None:
    """The first line of the digest holds the place."""
    facts = Facts(
        type="E1", cause="no rule", location=Location(file="/tmp/run-1/a.py", line=3), details=("/tmp/run-1/b.py",)
    )
    assert fold_temporary(facts).details == (".../b.py",)


def test_other_folders_stay() -> None:
    """Two temporary folders are two, and a folder of the project is never left out."""
    facts = Facts(
        type="E1", cause="no rule", details=("/tmp/one/a.py", "/tmp/two/a.py", "/srv/app/b.py", "/srv/app/c.py")
    )
    assert fold_temporary(facts) is not facts
    assert fold_temporary(facts).details == facts.details


def test_facts_without_one_are_returned_as_they_are() -> None:
    """Most have none, and pay nothing."""
    facts = Facts(type="E1", cause="no rule", details=("src/a.py",))
    assert fold_temporary(facts) is facts


def test_the_facts_of_a_text_are_folded() -> None:
    """What the agent reads names the folder in the first line alone."""
    rows = "\n".join(
        f"/tmp/tmp.Xy12ab/{name}.c:{row}:3: error: 'limit{row}' undeclared" for row, name in enumerate("abcdefgh", 1)
    )
    facts = classify(RawError(text=rows)).facts
    assert "/tmp/" not in "\n".join(facts.details)
