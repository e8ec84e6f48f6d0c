"""Creation, checking and description of a researcher's own study."""
