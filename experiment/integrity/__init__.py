"""How plausible a session is, by its own records: evidence, never a verdict."""
