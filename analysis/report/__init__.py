"""The report of a comparison: a folder of files for readers."""
