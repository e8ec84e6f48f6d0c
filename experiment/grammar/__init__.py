"""Grammars: templates and lexicons from which items are generated."""
