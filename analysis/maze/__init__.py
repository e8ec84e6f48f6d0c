"""Distractors of a Maze: made by language models, and every promise about them checked."""
