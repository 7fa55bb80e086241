"""
One object for each framework that keeps conversations within the window.

Apart from what compacts errors, so that each can be used without the other.
"""
