"""Supertags besides words: the second task of the multi-task model."""
