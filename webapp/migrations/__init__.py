"""How the schema came to be: one file per change, in order; ``webapp/schema.py`` applies them."""
