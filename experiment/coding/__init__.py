"""Coding typed answers: what counts as the same answer, categories, and two coders' codes."""
