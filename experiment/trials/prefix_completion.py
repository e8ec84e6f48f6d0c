"""Where plug-ins of earlier versions find ``PrefixCompletion``."""

from experiment.responses.choice.prefix_completion import PrefixCompletion

__all__ = ["PrefixCompletion"]
