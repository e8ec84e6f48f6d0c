"""How the schema came to be: one file per change; ``webapp.database.schema`` applies them."""
