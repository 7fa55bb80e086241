"""What colours mean, on all pages: each has one meaning, and each meaning one colour."""

from __future__ import annotations

from typing import Final

OK: Final = "green"
WARNING: Final = "orange"
BAD: Final = "red"
NEUTRAL: Final = "text"

NEW: Final = "purple"
BACK: Final = "blue"
GROWING: Final = WARNING
CHRONIC: Final = "semi-dark-yellow"
DEPLOYMENT: Final = "#8e8e8e"
"""A deployment is no error."""

OUTCOMES: Final = {
    "first in its run": "light-blue",
    "repeat": "light-orange",
    "after_escalation": "dark-red",
    "handled": OK,
    "coarse": "semi-dark-purple",
}
ACTIONS: Final = {"continue": OK, "pause": "light-yellow", "halt": "light-red", "unhandled": "dark-red"}
RESULTS: Final = {
    "clean": OK,
    "recovered": "light-green",
    "unresolved": "light-yellow",
    "failed": "light-orange",
    "halted": "dark-red",
}
RESOLUTIONS: Final = {"began to fail": "light-blue", "resolved": OK, "taken back": BAD}
