"""Operations on one run: launching, excluding, exporting.

Each function takes an open database session. No function commits and none calls a platform: the
caller commits, once.
"""
