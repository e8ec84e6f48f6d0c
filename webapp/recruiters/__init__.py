"""Recruiters: the ways by which participants reach a run, one class for each platform."""
