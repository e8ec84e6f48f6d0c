"""Reconciling: comparing our records, the platform and the ledger with each other."""
