"""Long jobs that a researcher asks for on a page; each worker process does one at a time."""
