"""Evidence of a session's plausibility from its own records, without a verdict."""
