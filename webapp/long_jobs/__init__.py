"""Long jobs that a researcher starts on a page; each worker process executes one at a time."""
