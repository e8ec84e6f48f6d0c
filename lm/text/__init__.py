"""Generated text: a probabilistic grammar, its sampler, and the resulting file."""
