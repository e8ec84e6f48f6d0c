"""Long work that somebody asks for in the room; each process that looks after it does one."""
