"""Checking an installation: each check says what it found, and what to do."""
