"""Generated text: a probabilistic grammar, its sampler, and the file it becomes."""
