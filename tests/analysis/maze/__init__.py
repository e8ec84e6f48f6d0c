"""Tests of the distractors of a Maze."""
