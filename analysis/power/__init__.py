"""Simulate the number of participants that a study needs: the command and its simulations."""
