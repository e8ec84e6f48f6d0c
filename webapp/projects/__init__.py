"""Projects: the owners of runs, members' rights, and limits of use."""
