"""The chain of real programs, run natively."""
