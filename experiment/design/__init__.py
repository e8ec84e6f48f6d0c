"""From items to lists that keep their promises."""
