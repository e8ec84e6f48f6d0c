"""Reading times of others, compared by a mapping that says what their columns mean."""
