"""Ways of asking a model: each one a file."""
