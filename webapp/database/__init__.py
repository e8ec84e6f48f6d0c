"""The database: engines, transactions, tables and schema."""
