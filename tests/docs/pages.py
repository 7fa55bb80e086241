"""The pages of the documentation, their blocks and their links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)(`{3,}|~{3,})([\w-]*) *$")
NOT_RUN = re.compile(r"^ *<!-- not run: (.+) -->$")

PAGES = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}
"""The pages of the site that stand in `docs/`."""

OF_PACKAGES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.glob("packages/*/README.md"))}

LINKED = (
    PAGES
    | OF_PACKAGES
    | {
        name: ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "CHANGELOG.md",
            "RELEASING.md",
            "dashboards/RUNBOOK.md",
            "benchmarks/RESULTS.md",
            "corpus/README.md",
            "tests/otel/recorded/README.md",
        )
        if (ROOT / name).exists()
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """
    A fenced block of a page.
    """

    page: str
    line: int
    language: str
    code: str
    reason: str
    """Why it is not run; empty where it is."""

    before: str
    """The language of the block above it with nothing between them."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def read_blocks(page: str, text: str) -> list[Block]:
    """Return the blocks of a page, without the indentation of a list."""
    found: list[Block] = []
    opened, body, above, between = None, list[str](), "", list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened, body = (number, fence), []
            marks = [mark for each in between if (mark := NOT_RUN.match(each))]
            reason, before = (marks[-1][1] if marks else ""), ("" if set(between) - {""} else above)
        elif opened is not None and fence and not fence[3] and fence[2].startswith(opened[1][2]):
            start, first = opened
            code = "".join(f"{each.removeprefix(first[1])}\n" for each in body)
            found.append(Block(page=page, line=start, language=first[3], code=code, reason=reason, before=before))
            opened, above, between = None, first[3], []
        elif opened is not None:
            body.append(line)
        elif not line.startswith("<!--") or NOT_RUN.match(line):
            between = [*between, line.strip()] if not line.strip() or NOT_RUN.match(line) else ["words"]
    assert opened is None, f"{page}: the last block does not end"
    return found


BLOCKS = [
    block
    for page, path in (PAGES | OF_PACKAGES).items()
    for block in read_blocks(page, path.read_text(encoding="utf-8"))
]


def prose(text: str) -> str:
    """Return a page without its blocks, its comments and its code."""
    kept, inside = list[str](), ""
    for line in text.splitlines():
        fence = FENCE.match(line)
        if fence and not inside:
            inside = fence[2]
        elif inside and fence and not fence[3] and fence[2].startswith(inside):
            inside = ""
        elif not inside:
            kept.append(line)
    return re.sub(r"<!--.*?-->", "", "\n".join(kept), flags=re.DOTALL)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page: those of its headings, and those that are written as HTML."""
    found: set[str] = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose(text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-")
        number = 0
        while (made := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(made)
    return found


def links(text: str) -> list[str]:
    """Return the targets of the links and pictures of a page."""
    plain = re.sub(r"`[^`\n]*`", "``", prose(text))
    inline = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", plain)
    return inline + re.findall(r"<(https?://[^>]+)>", plain) + re.findall(r"(?:src|srcset|href)=\"([^\"]+)\"", plain)
