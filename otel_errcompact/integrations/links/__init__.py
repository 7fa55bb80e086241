"""
Reach what hosts speak with, by the library that speaks it.

Each module needs a package of its own, and is imported by the host that needs it.
"""
