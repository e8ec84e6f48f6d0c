"""Readers of the field's formats: tables of pairs, BLiMP, MultiBLiMP, SyntaxGym, PCIbex, .tab."""
