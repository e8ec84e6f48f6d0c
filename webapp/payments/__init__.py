"""Paying a run's participants, once each.

A function that calls the platform takes the session factory: a payment is committed as a row before
the call, and settled in a separate transaction after it. No transaction is open during a call,
because a slow platform must not block participants' writes.

Where to read: ``accounts`` computes what each participant is owed. ``rewards``, ``bonuses`` and
``compensate`` (through ``compensation_request``) turn these amounts into ledger entries.
``run_payments`` proposes these entries and pays them when a user confirms the proposal. The layer
below is ``ledger`` (the rows), ``pay`` (the calls, in ``non_idempotent_bonuses`` if a platform
would pay a repeated call again) and ``platform_payments`` (the platform's list of payments).
``reconciliation`` compares both; ``spending`` adds up.
"""
