"""Models that answer questions: a prompt and its possible answers."""
