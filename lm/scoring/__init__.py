"""Efficient scoring of many texts: tries, kernels, packed trees."""
