"""Mutation testing: what is changed, and how a change is tried."""
