"""Statistics: tables of judgments in, numbers with their uncertainty out."""
