"""Where plug-ins of earlier versions find ``Rating``."""

from experiment.responses.rating.rating import Rating

__all__ = ["Rating"]
