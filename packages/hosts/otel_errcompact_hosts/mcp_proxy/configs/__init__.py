"""
Put the proxy before the servers that a client's file names.

The edits are the smallest that do it, so that taking them out gives the file back byte for byte, whatever else was
changed in it meanwhile.
"""
