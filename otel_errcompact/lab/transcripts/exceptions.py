"""What the readers of transcripts raise."""

from __future__ import annotations

from otel_errcompact.exceptions import ErrcompactError


class TranscriptError(ErrcompactError, ValueError):
    """
    A recorded run cannot be read.

    Args:
        path: The file.
        line: The line, counted from 1; 0 where the file as a whole is meant.
        problem: What is wrong, and what to do.
    """

    def __init__(self, path: str, line: int, problem: str) -> None:
        place = f"{path}:{line}" if line else path
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem
