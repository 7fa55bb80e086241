"""Whether counts stay exact for an hour in which all around the library fails: `python -m benchmarks.endurance`."""
