"""Where participants come from."""
