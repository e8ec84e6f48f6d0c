"""Formats of programs that collect judgments: one module per program."""
