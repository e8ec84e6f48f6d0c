"""What benchmarks/faults.py is made of: workers, a marketplace, an operator whom nothing spares."""
