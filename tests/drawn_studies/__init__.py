"""Randomly generated studies that go through every command."""
