"""The tables that leave and enter Parallax: their columns, and their files."""
