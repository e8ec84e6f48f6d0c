"""A small server of one of our models, to try, teach and test takers with."""
