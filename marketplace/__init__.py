"""Stand-ins of recruiting platforms on this machine: to try, teach and test with.

A stand-in imports nothing of ours. Each platform has a folder; what they share lies next to them.
"""
