"""PsychLing-101: people's sessions as prompts. The two scripts travel with the data they make."""
