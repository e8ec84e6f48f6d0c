"""The shell commands for language models."""

from lm.commands.train import train

__all__ = ["train"]
