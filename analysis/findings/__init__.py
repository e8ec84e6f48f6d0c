"""Statistics of a comparison, as tables for the report."""
