"""Scorers without a neural network or an n-gram table."""
