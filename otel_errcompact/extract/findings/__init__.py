"""Findings of compilers and linters in any layout."""
