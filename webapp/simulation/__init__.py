"""Simulated participants: programs that use the public pages over HTTP."""
