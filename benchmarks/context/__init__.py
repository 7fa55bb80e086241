"""What compaction costs (`cost.py`), and what it keeps (`python -m benchmarks.context`)."""
