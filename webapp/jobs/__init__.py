"""The periodic jobs of an installation, and their queue."""
