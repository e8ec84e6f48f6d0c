"""N-gram models with interpolated modified Kneser-Ney smoothing."""
