"""Items, from grammars, tables and treebanks."""
