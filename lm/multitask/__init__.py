"""Supertags beside words: the second task of the multi-task model."""
