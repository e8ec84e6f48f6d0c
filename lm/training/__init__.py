"""Training of all recurrent models: plan, loop, checkpoints, search."""
