"""One statement of everything that was spent, over runs, studies, funders and platforms."""
