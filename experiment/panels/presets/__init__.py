"""What is known of panels that many use, as tables that a study's own ``[panel]`` completes."""
