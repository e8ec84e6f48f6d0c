"""Accounts of researchers and their sessions, the audit log, and projects with their members.

Transaction contract: functions that take a session leave the commit to the caller; functions that
take ``Sessions`` commit themselves.
"""
