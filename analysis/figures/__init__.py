"""Figures of a comparison, each drawn from a table, ready to go into a paper."""
