"""Statistics: from tables of judgments to estimates with their uncertainty."""
