"""Response types: what a trial shows and asks; one folder per type."""
