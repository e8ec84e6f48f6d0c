"""The shell's commands on language models."""

from lm.commands.train import train

__all__ = ["train"]
