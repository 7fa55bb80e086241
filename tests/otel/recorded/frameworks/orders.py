"""The tool of every scenario: it fails on one order, and finds the other."""

from __future__ import annotations


def find_order(order: str) -> str:
    """Find an order."""
    if order == "A-1":
        raise LookupError(f"no such order: {order}")
    return f"order {order}: two apples"
