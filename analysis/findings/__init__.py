"""What a comparison finds, as tables for the report."""
