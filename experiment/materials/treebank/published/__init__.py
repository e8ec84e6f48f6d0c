"""The file formats of the published agreement data, read and written."""
