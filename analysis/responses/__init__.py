"""What the analysis knows of each type of response."""
