"""What agents read of failures, as one table over recorded runs and labelled texts."""
