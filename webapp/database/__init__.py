"""The database: engines, transactions, tables, schema."""
