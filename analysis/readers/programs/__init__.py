"""Formats of programs that collect judgments: one module for each."""
