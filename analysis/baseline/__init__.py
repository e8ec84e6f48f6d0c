"""A human baseline of a model evaluation, reported by a published checklist."""
