"""Published data of people and of models, each with its mapping and its published number."""
