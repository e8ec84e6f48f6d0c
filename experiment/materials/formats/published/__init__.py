"""Formats of published materials: one module for each."""
