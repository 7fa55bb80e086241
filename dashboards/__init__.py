"""Dashboards and alerts of the operator's side, as code; `python -m dashboards` writes what programs read."""
