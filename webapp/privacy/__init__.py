"""Participants' rights over their own data: access, correction, restriction and erasure.

Functions that take a session leave the commit to the caller.
"""
