"""Native speakers check a study's sentences on a page of their own; approved items go out."""
