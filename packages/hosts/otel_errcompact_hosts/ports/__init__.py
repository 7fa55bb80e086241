"""
Listen, and let in only what has a bound.

`sockets` opens what is listened on, `connections` bounds who may be connected and for how long, `edge` what one request
may be, `logs` what is said of it all.
"""
