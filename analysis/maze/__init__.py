"""The Maze task: its analysis, and distractors made and checked with language models."""
