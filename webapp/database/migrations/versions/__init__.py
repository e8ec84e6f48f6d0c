"""The changes, each upwards and downwards. One that was ever released is never edited again."""
