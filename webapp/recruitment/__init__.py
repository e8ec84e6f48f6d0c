"""A run's participants on a platform: publishing, polling, matching assignments.

A function that calls the platform takes the session factory and commits before and after each call,
so that the request is on record even if the reply is lost. No transaction is open during a call,
because a slow platform must not block participants' writes.
"""
