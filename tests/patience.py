"""How long a test waits before it calls something stuck: no working machine is ever that slow."""

PATIENCE_S = 600.0
