"""The response type in which a sentence is judged acceptable or unacceptable."""
