"""Simulated participants."""
