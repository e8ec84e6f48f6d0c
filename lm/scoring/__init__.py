"""Scoring many texts at once: tries, kernels, packed trees, shards."""
