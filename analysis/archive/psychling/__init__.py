"""PsychLing-101: participants' trials as prompts. Both scripts are copied into the data set."""
