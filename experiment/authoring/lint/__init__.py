"""Lints: a careful proofreading of a study's materials."""
