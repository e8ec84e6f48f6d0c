"""The analysis of each type of response."""
