"""From templates or files to items."""
