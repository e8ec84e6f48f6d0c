"""Studies: the model of a study folder, its loader, and the studies that ship with Parallax."""
