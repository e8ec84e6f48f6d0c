"""Response types in which a participant reads a sentence in timed steps."""
