"""Readers of common formats: tables of pairs, BLiMP, MultiBLiMP, SyntaxGym, PCIbex, .tab."""
