"""LAB: recorded runs offline: transcripts, replay, analysis, report page, command line."""
