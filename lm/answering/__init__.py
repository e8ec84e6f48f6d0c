"""Models as answerers of questions: a prompt, and the answers that can follow it."""
