"""Paying a run's participants, once each.

A function that calls the platform takes the session factory: a payment is a committed row before
the platform is called, and settled in a transaction of its own after it. No transaction is open
during a call: a slow platform must not keep participants from writing.
"""
