"""A run's participants on a platform: offered, polled, matched with the platform's assignments.

A function that calls the platform takes the session factory and commits before and after each call,
so that what was asked is on record whatever becomes of the reply. No transaction is open during a
call: a slow platform must not keep participants from writing.
"""
