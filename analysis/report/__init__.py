"""A comparison as a folder of files that a reader opens."""
