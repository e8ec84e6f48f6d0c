"""Panels: people come from them by a link and go back by another; a table describes both."""
