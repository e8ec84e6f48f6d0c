"""Agreement tests from a treebank: constructions, original and nonce sentences, fillers."""
