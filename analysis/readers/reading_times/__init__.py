"""Reading times of other programs and published corpora: one reader per format."""
