"""Read look-alike letters as letters of ASCII."""

from __future__ import annotations

import unicodedata
from typing import Final

LOOK_ALIKES: Final = dict(
    zip(
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u043a\u043c\u0442\u0432\u043d"
        "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
        "\u03b1\u03bf\u03bd\u03c1\u03c4\u03c5\u03b9\u03ba\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f"
        "\u03a1\u03a4\u03a5\u03a7\u0261\u0131\u2113",
        "aeopcyxijsdhkmtbhABEKMHOPCTYXIJSaovptuikABEZHIKMNOPTYXgil",
        strict=True,
    )
)
"""Letters of Cyrillic and Greek by the letter of ASCII that they look like; a part of the table of UTS #39."""

_PLAIN: Final = str.maketrans(LOOK_ALIKES)


def plain_letters(text: str) -> str:
    """Return a text with look-alikes as ASCII and without accents."""
    apart = unicodedata.normalize("NFKD", text.translate(_PLAIN))
    return "".join([letter for letter in apart if not unicodedata.combining(letter)])
