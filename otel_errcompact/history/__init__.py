"""HISTORY: counts, streaks and resolutions of a run, and the stores that keep them."""
