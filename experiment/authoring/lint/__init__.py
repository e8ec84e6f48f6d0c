"""Materials read as a careful colleague would read them."""
