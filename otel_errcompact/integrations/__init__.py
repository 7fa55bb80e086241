"""One thin, independent module for each agent framework, on public hooks."""
