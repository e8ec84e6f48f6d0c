"""Reading runs and scores, and joining them."""
