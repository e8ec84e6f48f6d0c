"""Writing your own study: from a table to a folder, checked, shown and described."""
