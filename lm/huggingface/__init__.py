"""Models of the transformers library, as scorers."""
