"""Texts that programs print, with a place for a secret."""
