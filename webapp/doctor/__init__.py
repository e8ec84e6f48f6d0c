"""Checks of an installation: each reports its findings and their remedies."""
