"""Files of PHP: own ones, and those of packages."""

from __future__ import annotations

from typing import Final

_FOREIGN: Final = ("vendor/", "vendor\\", "phar://", "/usr/share/php/", "[internal function]", "Standard input code")


def is_own(file: str) -> bool:
    """Tell whether a PHP file is the user's own: no dependency."""
    return bool(file) and not any(part in file for part in _FOREIGN)
