"""Payloads: structured data inside an error, decoded, walked and flattened to lines."""
