"""From a treebank to agreement tests: constructions, original and nonce sentences, fillers."""
