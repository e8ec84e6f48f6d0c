"""One training loop for every recurrent model: plan, loop, checkpoints, search."""
