"""A comparison packed with all that it needs to be made again, and made again."""
