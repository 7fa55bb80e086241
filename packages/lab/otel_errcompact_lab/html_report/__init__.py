"""
Recorded runs as one self-contained HTML page.

It needs jinja2, which the extra `cli` brings.
"""

from __future__ import annotations

from otel_errcompact_lab.html_report.collector import Collector
from otel_errcompact_lab.html_report.comparison import compare
from otel_errcompact_lab.html_report.replay import play
from otel_errcompact_lab.html_report.writing import check_output, write_page

__all__ = ["Collector", "check_output", "compare", "play", "write_page"]
