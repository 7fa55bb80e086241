"""
What stays of messages that are taken out.

`survey.py` reads what goes, `replacement.py` makes what takes its place; a module each for the kinds of things between.
"""
