"""Figures of a comparison, each drawn from a table and ready for a paper."""
