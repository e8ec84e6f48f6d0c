"""Report a human baseline of a model evaluation by a published checklist."""
