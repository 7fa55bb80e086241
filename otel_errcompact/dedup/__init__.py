"""DEDUPLICATOR: masks what varies in a message, and makes the dedup key."""
