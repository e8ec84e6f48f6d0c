"""Reconciling: our records, the platform and the ledger are laid beside each other."""
