"""The researchers who sign in: accounts, roles, sessions, and the audit log of what they did.

Transaction contract: functions that take a session leave the commit to the caller; those that take
``Sessions`` commit themselves.
"""
