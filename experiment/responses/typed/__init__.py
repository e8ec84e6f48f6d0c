"""Typed answers: a gap in a sentence, or a word to associate."""
