"""The promises of a design, each re-checked on the built lists."""
