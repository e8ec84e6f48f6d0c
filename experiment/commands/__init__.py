"""The shell's commands on materials and lists."""
