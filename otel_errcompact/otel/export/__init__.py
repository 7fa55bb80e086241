"""Export: raw errors and spans on their way out."""
