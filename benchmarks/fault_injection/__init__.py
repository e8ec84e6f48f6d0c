"""What benchmarks/faults.py is made of: a town of workers, and an operator whom nothing spares."""
