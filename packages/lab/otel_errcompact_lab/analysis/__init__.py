"""
The weight of errors in recorded runs: tokens, recurrence, loops, thresholds.

Data and arithmetic alone: no OpenTelemetry, no terminal. One pass over a run gives all of it, and nothing of the run is
kept but numbers, so that gigabytes of records cost the memory of their longest run.

    total, calibration = Total(options.thresholds), Calibration(options.thresholds)
    for run in read(path, on_problem=print):
        found = analyzer.analyze(run)
        total.add(found)
        calibration.add(found)
"""

from __future__ import annotations

from otel_errcompact_lab.analysis.calibration import Calibration
from otel_errcompact_lab.analysis.outcomes import Outcomes, read_outcomes
from otel_errcompact_lab.analysis.recommendation import Recommendation
from otel_errcompact_lab.analysis.runs import Analyzer, RunAnalysis
from otel_errcompact_lab.analysis.total import Total

__all__ = ["Analyzer", "Calibration", "Outcomes", "Recommendation", "RunAnalysis", "Total", "read_outcomes"]
