"""Types of response in which a sentence is read step by step, and each step is timed."""
