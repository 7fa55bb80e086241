"""
Write hooks into the settings of hosts, and take them out again.

Everything else in a settings file stays what it is byte for byte, and what was installed can be undone exactly.
"""
