"""A statement of all spending, over runs, studies, funders and platforms."""
