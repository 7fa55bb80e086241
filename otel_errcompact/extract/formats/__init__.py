"""One file for each family of formats; the table in `extract/__init__.py` says in which order they are tried."""
