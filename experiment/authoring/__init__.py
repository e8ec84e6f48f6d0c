"""Writing a study of one's own: from a table to a folder, checked, shown and described."""
