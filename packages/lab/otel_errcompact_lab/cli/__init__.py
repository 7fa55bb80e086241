"""The command line, `errcompact`. It needs the extra `cli`."""
