"""Texts by an author who does not know the rules, in two halves: rules may be tuned on `a`, and never on `b`."""
