"""Paying a run's participants, once each.

A function that calls the platform takes the session factory: a payment is a committed row before
the platform is called, and settled in a transaction of its own after it. No transaction is open
during a call: a slow platform must not keep participants from writing.

Where to read: ``accounts`` says what everybody is owed; ``rewards``, ``bonuses`` and
``compensate`` (asked for by ``compensation_request``) turn it into entries; ``proposal`` is what
somebody confirms, and ``run_payments`` does it. Below them stand ``ledger`` (the rows), ``pay``
(the calls, in ``two_steps`` where a platform would pay a second call again) and ``as_listed`` (what
the platform says of a payment). ``reconciliation`` compares both; ``spending`` adds up.
"""
