"""Projects: whose runs are whose, what each member may do, and how much a project may use."""
