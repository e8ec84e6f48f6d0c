"""Exclusion rules, which turn a participant's judgments into a verdict."""
