"""Errors of comparing participants with models."""

from experiment.errors import ParallaxError


class AnalysisError(ParallaxError):
    """Tables do not belong together, or a statistic cannot be computed from them."""
