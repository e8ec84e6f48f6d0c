"""Readings: the ways of asking a model, one file each."""
