"""A folder as one zip file in memory."""

import io
import zipfile
from pathlib import Path


def zipped(folder: Path) -> io.BytesIO:
    """Return a zip file of a folder and all that is in it, under the folder's name."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                zip_file.write(path, path.relative_to(folder.parent))
    archive.seek(0)
    return archive
