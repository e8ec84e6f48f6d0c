"""Score materials with models, and derive one score per version."""
