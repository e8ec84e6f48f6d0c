"""Response types in which the participant chooses among two or more options."""
