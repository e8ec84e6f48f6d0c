"""Read runs and scores, and join them."""
