"""Try the hooks of a host with failures that are known beforehand."""
