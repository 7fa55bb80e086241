"""The README is run and compared, not believed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from otel_errcompact import Thresholds

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)


@pytest.mark.meta
def test_the_readme_has_examples() -> None:
    """The expression that finds them finds them all."""
    assert len(EXAMPLES) == README.count("```python")


@pytest.mark.programs
@pytest.mark.parametrize(("code", "output"), EXAMPLES, ids=[f"example {number}" for number in range(len(EXAMPLES))])
def test_an_example_prints_what_the_readme_says(code: str, output: str, tmp_path: Path) -> None:
    """Each block runs as it stands, and its output is the block below it."""
    (tmp_path / "shop.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "shop.py"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert (done.stdout.replace(str(tmp_path), "/srv"), done.returncode) == (output, 0), done.stderr


@pytest.mark.programs
def test_the_report_of_the_first_example_names_its_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command that the README gives prints how the run ended, and the class that its output shows."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    code, output = EXAMPLES[0]
    (tmp_path / "shop.py").write_text(code, encoding="utf-8")
    subprocess.run([sys.executable, "shop.py"], cwd=tmp_path, capture_output=True, check=True)
    assert "`errcompact report`" in README
    done = subprocess.run(
        [sys.executable, "-m", "otel_errcompact_lab.cli.main", "report"],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert re.findall(r"#([0-9a-f]{4})\b", output)[0] in done.stdout
    assert "recovered" in done.stdout


@pytest.mark.meta
def test_a_newcomer_can_read_it() -> None:
    """Less than 8 kB, with code on the first screen, which also says what a class and its mark are."""
    assert len(README.encode()) < 8_000
    assert "```python" in README.splitlines()[:40]
    first = README.split("\n## ")[0]
    assert "An **error class** is" in first
    assert "is its **mark**" in first.replace("\n", " ")


@pytest.mark.meta
def test_each_link_leads_to_a_file() -> None:
    """Pictures, too."""
    links = set(re.findall(r"\]\(([^)#]+)|(?:src|srcset)=\"([^\"]+)\"", README))
    targets = {link or picture for link, picture in links}
    missing = [target for target in targets if "://" not in target and not (ROOT / target).exists()]
    assert missing == []


@pytest.mark.meta
def test_the_words_for_the_picture_have_its_figures() -> None:
    """What a reader hears instead of seeing it."""
    spoken = re.findall(r'digest-light\.svg"[^>]*alt="([^"]+)"', README)[0]
    drawn = (ROOT / "docs" / "pictures" / "digest-light.svg").read_text(encoding="utf-8")
    figures = re.findall(r"[0-9][0-9,]*(?= lines| tokens| for| at)|#[0-9a-f]{4}", spoken)
    assert len(figures) == 5
    assert [figure for figure in figures if not re.search(rf"(?<![\w,]){figure}(?![\w,])", drawn)] == []


@pytest.mark.meta
def test_each_line_of_a_framework_names_what_its_page_shows() -> None:
    """No name of our own is in the table that the page behind the link does not have."""
    section = README.split("\n## Frameworks and hosts\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| \[[^\]]+\]\((docs/frameworks/\w+\.md)\) \| (.+) \|$", section, re.MULTILINE)
    assert len(found) == 11
    for page, cell in found:
        names = {name for code in re.findall(r"`([^`]+)`", cell) for name in re.findall(r"[A-Za-z_]{4,}", code)}
        text = (ROOT / page).read_text(encoding="utf-8")
        assert {name for name in names - {"tools"} if not re.search(rf"\b{name}\b", text)} == set(), page


@pytest.mark.meta
def test_every_framework_has_its_line() -> None:
    """Each page of a framework is linked."""
    pages = {page.name for page in (ROOT / "docs" / "frameworks").glob("*.md")} - {"index.md"}
    assert pages <= set(re.findall(r"docs/frameworks/(\w+\.md)", README))


@pytest.mark.meta
def test_the_thresholds_are_the_defaults() -> None:
    """A newcomer reads of three; the page of the reference has them all."""
    section = README.split("\n## Escalation\n")[1].split("\n## ")[0]
    listed = dict(re.findall(r"`(\w+)` (\d+) \|", section))
    assert listed == {name: str(getattr(Thresholds(), name)) for name in ("refuse", "same", "loop_halt")}
