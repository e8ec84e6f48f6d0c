"""Scoring and training language models: strings in, log-probabilities out."""
