"""Explains what was made of one raw error."""

from otel_errcompact.lab.explanation.explaining import explain
from otel_errcompact.lab.explanation.model import Explanation

__all__ = ["Explanation", "explain"]
