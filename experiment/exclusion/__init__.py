"""From judgments to verdicts."""
