"""Explains what was made of one raw error."""

from otel_errcompact_lab.explanation.explaining import explain
from otel_errcompact_lab.explanation.model import Explanation

__all__ = ["Explanation", "explain"]
