"""Command-line commands for studies, materials, lists and treebanks."""
