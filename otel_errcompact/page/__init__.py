"""One self-contained HTML page of what went wrong in recorded runs."""
