"""From lists to what one participant sees."""
