"""Log records: failures that only a log tells of."""
