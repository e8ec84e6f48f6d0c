"""The Maze: its analysis; distractors made by language models and checked."""
