"""History: counts, streaks and resolutions of a run, and their stores."""
