"""What redaction leaves of secrets, and what it takes of harmless text."""
