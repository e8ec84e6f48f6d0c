"""Shell commands for scores and comparisons."""
