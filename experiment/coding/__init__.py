"""Coding typed answers: categories that a study declares, and two coders' codes of each answer."""
