"""Reading and writing of the file formats of the published agreement data."""
