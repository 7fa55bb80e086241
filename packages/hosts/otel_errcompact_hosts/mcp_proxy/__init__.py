"""
Stand between a client of the Model Context Protocol and a server.

Messages pass as they are, byte for byte. What is looked at are calls of tools: an answer that is an error becomes its
digest, and an identical call that cannot work is refused.
"""
