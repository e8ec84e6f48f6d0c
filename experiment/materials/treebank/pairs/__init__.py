"""Minimal pairs of whole sentences from a treebank: one word agrees, or does not."""
