"""Model participants: the prompts and questions of a whole session, without any model."""
