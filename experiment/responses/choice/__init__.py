"""An option is chosen: of a pair, of two completions, of three or more."""
