"""Mistakes in materials, planted by seed: the tables, and the ways in which they are spoilt."""
