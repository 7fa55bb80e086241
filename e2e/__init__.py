"""The whole chain run natively: the real programs, built here, with the configuration files that are shipped."""
