"""Failed tests in the output of runners of any kind."""
