"""Scoring materials with models, and what a score is taken to be."""
