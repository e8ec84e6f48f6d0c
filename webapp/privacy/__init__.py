"""What people may ask of their own data: to have it, and to be forgotten.

Transaction contract: functions that take a session leave the commit to the caller.
"""
