"""DEDUPLICATOR: masks what varies in a message and makes the key of its error class."""
