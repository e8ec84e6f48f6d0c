"""The browser that is driven where none is named."""

import shutil

# Debian has both; the one that can open a window takes twice the processor's time for a page.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
