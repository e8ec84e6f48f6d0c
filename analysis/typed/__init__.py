"""The analysis of typed answers: cloze probabilities, entropy and constraint."""
