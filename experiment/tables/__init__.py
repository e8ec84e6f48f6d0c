"""The tables that Parallax reads and writes: their columns and their files."""
