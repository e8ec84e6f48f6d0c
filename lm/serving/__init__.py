"""A small server for one local model, to try out, teach and test model participants."""
