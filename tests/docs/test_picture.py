"""The picture of the README: legible, and drawn from what the library makes of recorded outputs."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs import picture

pytestmark = pytest.mark.meta

WIDEST = 0.616
"""How wide a character of the widest usual monospace font is, in its size."""

ROOT = Path(__file__).parents[2]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", [picture.LIGHT, picture.DARK], ids=["light", "dark"])
def test_each_text_stands_out_from_its_card(palette: picture.Palette) -> None:
    """By 4.5 to 1, as WCAG asks of small text."""
    for name in {field.name for field in fields(palette)} - {"card", "border", "bar"}:
        lighter, darker = sorted((luminance(getattr(palette, name)), luminance(palette.card)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, name


@pytest.mark.parametrize("page", picture.PAGES, ids=lambda page: page.name)
def test_each_line_fits_its_card(page: Path) -> None:
    """Also with the widest font; the right-hand cards end where the picture ends."""
    tree = ET.fromstring(page.read_text(encoding="utf-8"))
    size = float(re.findall(r"\.code\{font:([0-9.]+)px", page.read_text(encoding="utf-8"))[0])
    half = (picture.WIDTH - picture.GAP) / 2
    codes = [element for element in tree.iter() if element.get("class") == "code"]
    bottom = [element for element in codes if float(element.get("y", 0)) > float(tree.get("height", 0)) - 100]
    assert len(codes) > 15
    assert len(bottom) == 8
    for element in codes:
        left = float(element.get("x", 0))
        end = left + len("".join(element.itertext())) * size * WIDEST
        assert end <= (half if element in bottom and left < half else picture.WIDTH), "".join(element.itertext())


def test_the_readme_shows_both_pictures() -> None:
    """The dark one where the reader's scheme is dark, both as they are named in the repository."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r'(?:src|srcset)="([^"]+\.svg)"', readme)
    assert {ROOT / name for name in shown} == set(picture.PAGES)
    assert re.search(r'media="\(prefers-color-scheme: dark\)" srcset="[^"]+dark\.svg"', readme)


def test_outputs_of_two_classes_make_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture says that they are one class."""
    other = picture.CORPUS / "pytest" / "fixtures.txt"
    monkeypatch.setitem(picture.OUTPUTS, "pytest --tb=short", other)
    with pytest.raises(ValueError, match="more than one class"):
        picture.draw(picture.LIGHT)
