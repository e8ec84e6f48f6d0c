"""Reconciling: our records, the platform and the ledger are compared with each other."""
