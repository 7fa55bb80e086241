"""COMPACTOR, reading: raw error -> facts. A format is one object in one file of `formats/`."""
