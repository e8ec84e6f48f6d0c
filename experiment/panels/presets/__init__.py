"""Presets of widely used panels, as tables that a study's own ``[panel]`` completes."""
