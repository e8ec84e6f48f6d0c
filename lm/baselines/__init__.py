"""Scorers that need no neural network and no n-gram table."""
