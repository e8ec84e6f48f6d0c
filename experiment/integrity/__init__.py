"""What a session's own records tell of how it came about: evidence, never a verdict."""
