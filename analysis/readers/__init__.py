"""Judgments that other people published, read into the form of an exported run."""
