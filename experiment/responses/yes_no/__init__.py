"""A sentence is judged acceptable or not."""
