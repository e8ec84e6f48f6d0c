"""Reading times of other programs and published sets: one reader for each format."""
