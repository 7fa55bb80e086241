"""Attacks on the library, each with the promise that it tries to break."""
