"""One run: launching, excluding, exporting.

Each function takes an open database session. No function commits and none calls a platform: who
called it commits, once.
"""
