"""DETECTOR: whether a result is a failure, which operation a call is, whether waiting helps."""
