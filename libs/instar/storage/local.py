"""A store in a folder of the local file system.

An object is written to a temporary file, made durable, and only then given its name: by a hard link where the name must
be new, by a rename where it may replace. Either step is atomic, so no half object is ever visible, whenever the process
dies; at worst it leaves a temporary file behind, which no listing shows.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from instar.clock import UuidSource, random_uuid
from instar.storage.keys import TEMPORARY_FOLDER, check_key, check_prefix, check_range, is_key
from instar.storage.protocol import (
    AlreadyExists,
    DidNotHappen,
    InvalidKey,
    MayHaveHappened,
    NotFound,
    ObjectInfo,
    StoreError,
)


class InvalidRoot(StoreError):
    """A root that is no absolute path."""


class LocalStore:
    """Keep each object as a file below `root`, which the first put creates.

    Without `durable` nothing is fsynced: objects are still atomic for other processes, but a power loss may take them.
    """

    def __init__(self, root: Path, *, durable: bool = True, uuids: UuidSource = random_uuid) -> None:
        if not root.is_absolute():
            raise InvalidRoot(f"{str(root)!r} is not absolute.", help="Write the whole path, from / on.")
        self._root = root
        self._durable = durable
        self._uuids = uuids
        self._settled: set[Path] = set()

    @classmethod
    def from_uri(cls, uri: str) -> "LocalStore":
        """Open the folder of a `file:///path` URI, whose path may be percent-encoded."""
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict")
        if parts.netloc not in ("", "localhost") or parts.query or parts.fragment or "\0" in path:
            raise InvalidRoot(
                f"{uri!r} names no local folder.", help="Write file:///path, with ? and # as %3F and %23."
            )
        return cls(Path(os.path.normpath(path)) if path else Path())

    @property
    def uri(self) -> str:
        return self._root.as_uri()

    def get(self, key: str) -> bytes:
        with self._reading(key) as path:
            return path.read_bytes()

    def get_range(self, key: str, start: int, length: int) -> bytes:
        check_range(start, length)
        with self._reading(key) as path, path.open("rb") as file:
            end = min(start + length, os.fstat(file.fileno()).st_size)
            file.seek(start)
            return file.read(max(end - start, 0))

    def put(self, key: str, data: bytes) -> None:
        with self._prepared(key, data) as temporary:
            try:
                temporary.replace(self._root / key)
            except IsADirectoryError:
                raise InvalidKey(f"{key!r} is a folder of {self.uri}.", help="Name an object.") from None
            except OSError as error:
                raise DidNotHappen(f"{key!r} was not stored in {self.uri}: {error}.") from error

    def put_if_absent(self, key: str, data: bytes) -> None:
        with self._prepared(key, data) as temporary:
            target = self._root / key
            try:
                os.link(temporary, target)
            except FileExistsError:
                if target.is_dir():
                    raise InvalidKey(f"{key!r} is a folder of {self.uri}.", help="Name an object.") from None
                raise AlreadyExists(f"{self.uri} has an object {key!r} already.") from None
            except OSError as error:
                raise DidNotHappen(
                    f"{key!r} was not stored in {self.uri}: {error}.", help="The file system must have hard links."
                ) from error

    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        folder, slash, _ = check_prefix(prefix).rpartition("/")
        return self._walk(folder + slash, prefix, start_after)

    def delete(self, keys: Iterable[str]) -> None:
        paths = [self._root / check_key(key) for key in keys]
        try:
            for path in paths:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
                    path.unlink()
            for folder in {path.parent for path in paths}:
                if folder.is_dir():
                    self._sync_folder(folder)
        except OSError as error:
            raise MayHaveHappened(f"Objects of {self.uri} may not all be deleted: {error}.") from error

    def open_input(self, key: str) -> pa.NativeFile:
        with self._reading(key) as path:
            return pa.memory_map(str(path), "rb")

    @contextlib.contextmanager
    def _reading(self, key: str) -> Iterator[Path]:
        path = self._root / check_key(key)
        try:
            yield path
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise NotFound(f"{self.uri} has no object {key!r}.") from None
        except OSError as error:
            if path.is_dir():  # pyarrow's own error for a folder is a plain one
                raise NotFound(f"{self.uri} has no object {key!r}.") from None
            raise DidNotHappen(f"{key!r} can't be read from {self.uri}: {error}.") from error

    @contextlib.contextmanager
    def _prepared(self, key: str, data: bytes) -> Iterator[Path]:
        """Offer a durable temporary file with `data`; once the caller has named it, make the name durable."""
        target = self._root / check_key(key)
        temporary = self._root / TEMPORARY_FOLDER / str(self._uuids())
        try:
            try:
                self._settle(temporary.parent)
                self._settle(target.parent)
                self._write(temporary, data)
            except OSError as error:
                raise DidNotHappen(f"{key!r} was not stored in {self.uri}: {error}.") from error
            yield temporary
            try:
                self._sync_folder(target.parent)
            except OSError as error:
                raise MayHaveHappened(f"{key!r} may not be durable in {self.uri}: {error}.") from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def _write(self, path: Path, data: bytes) -> None:
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            if self._durable:
                os.fsync(file.fileno())

    def _settle(self, folder: Path) -> None:
        """Create `folder` and make its path durable.

        A folder that is there already may be another process's and not durable yet, so each is synced once by us too.
        """
        if folder in self._settled and folder.is_dir():
            return
        if folder == self._root:
            missing = [path for path in (folder, *folder.parents) if not path.exists()]
            folder.mkdir(parents=True, exist_ok=True)
            for path in missing:
                self._sync_folder(path.parent)
        else:
            self._settle(folder.parent)
            folder.mkdir(exist_ok=True)
            self._sync_folder(folder.parent)
        self._settled.add(folder)

    def _sync_folder(self, folder: Path) -> None:
        if not self._durable:
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _walk(self, folder: str, prefix: str, start_after: str) -> Iterator[ObjectInfo]:
        """Yield what lies in `folder` ("" or ending in a slash), in the order of whole keys."""
        for key, entry in sorted(self._entries(folder), key=lambda pair: pair[0]):
            if key.endswith("/"):
                overlaps = key.startswith(prefix) or prefix.startswith(key)
                if overlaps and (key > start_after or start_after.startswith(key)):
                    yield from self._walk(key, prefix, start_after)
            elif key.startswith(prefix) and key > start_after:
                with contextlib.suppress(FileNotFoundError):  # deleted since
                    status = entry.stat(follow_symlinks=False)
                    yield ObjectInfo(key, status.st_size, status.st_mtime_ns // 1_000)

    def _entries(self, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield the keys of a folder's files, and its folders with a slash at the end, which gives them their place."""
        try:
            with os.scandir(self._root / folder) as entries:
                for entry in entries:
                    key = folder + entry.name
                    if is_key(key) and entry.is_dir(follow_symlinks=False):
                        yield f"{key}/", entry
                    elif is_key(key) and entry.is_file(follow_symlinks=False):
                        yield key, entry
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise DidNotHappen(f"{folder!r} of {self.uri} can't be listed: {error}.") from error
