"""What the web server does first, as a program: it opens the door and says what is behind it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

if __name__ == "__main__":
    import wsgi

    print(wsgi.app.name)
