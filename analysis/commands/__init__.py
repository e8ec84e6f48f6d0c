"""The shell's commands on scores and comparisons."""
