"""Response types in which the participant rates a sentence on a scale."""
