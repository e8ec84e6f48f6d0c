"""Reading times of other studies, compared by a mapping that says what their columns mean."""
