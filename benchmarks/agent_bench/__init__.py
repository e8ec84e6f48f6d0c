"""Who comes to the bench of agents: simulated people, and programs of several kinds."""
