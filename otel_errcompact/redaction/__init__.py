"""REDACTION: secrets are masked before anything leaves the process."""
