"""The program that is this one's first word, as after ``python -c``, but in a copy."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

if __name__ == "__main__":
    program = sys.argv.pop(1)
    exec(compile(program, "<given>", "exec"), {"__name__": "__main__"})
