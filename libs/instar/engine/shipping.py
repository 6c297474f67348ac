"""Ship the library to executors: one zip, named by its content."""

import hashlib
import os
import zipfile
from pathlib import Path

from instar.config import Settings

_EPOCH = (1980, 1, 1, 0, 0, 0)
_SHIPPED = {".py", ".json"}


def library_zip(settings: Settings) -> Path:
    """Return a zip of this library below the work folder, made once per content."""
    root = Path(__file__).parents[1]
    files = sorted(path for path in root.rglob("*") if path.suffix in _SHIPPED)
    contents = [(path.relative_to(root.parent).as_posix(), path.read_bytes()) for path in files]
    digest = hashlib.sha256()
    for name, data in contents:
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    target = settings.work / "library" / f"instar-{digest.hexdigest()[:16]}.zip"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in contents:
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
        draft.replace(target)
    return target
