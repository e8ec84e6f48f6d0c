"""The checks of a design, each made on the built lists."""
