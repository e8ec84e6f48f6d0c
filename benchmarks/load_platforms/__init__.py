"""What benchmarks/load.py is made of: a crowd of lean browsers, and the platforms it visits."""
