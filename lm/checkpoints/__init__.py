"""Models at several points of their training: found, checked and loaded one after the other."""
