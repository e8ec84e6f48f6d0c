"""Researchers' accounts, roles and sessions, and the audit log of their acts.

Transaction contract: functions that take a session leave the commit to the caller; functions that
take ``Sessions`` commit themselves.
"""
