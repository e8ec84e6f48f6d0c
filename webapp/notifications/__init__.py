"""Telling researchers, by mail or at an address of a program, what happens to their runs.

What is told names a run and says what happened; it holds nothing of a participant.
"""
