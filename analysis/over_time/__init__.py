"""Models over time: scores of many checkpoints, their curves, and when they pass a level."""
