"""A store in memory, for tests and for planning without a disk."""

import builtins
import threading
from collections.abc import Iterable, Iterator

import pyarrow as pa

from instar.clock import Clock, system_clock
from instar.storage.keys import check_key, check_prefix, check_range
from instar.storage.protocol import AlreadyExists, NotFound, ObjectInfo


class MemoryStore:
    """Keep objects as long as the process lives."""

    def __init__(self, name: str = "memory", *, clock: Clock = system_clock) -> None:
        self._uri = f"memory://{name}"
        self._clock = clock
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._lock = threading.Lock()

    @property
    def uri(self) -> str:
        return self._uri

    def get(self, key: str) -> bytes:
        check_key(key)
        with self._lock:
            if key not in self._objects:
                raise NotFound(f"{self._uri} has no object {key!r}.")
            return self._objects[key][0]

    def get_range(self, key: str, start: int, length: int) -> bytes:
        check_range(start, length)
        return self.get(key)[start : start + length]

    def put(self, key: str, data: bytes) -> None:
        check_key(key)
        with self._lock:
            self._objects[key] = (bytes(data), self._clock())

    def put_if_absent(self, key: str, data: bytes) -> None:
        check_key(key)
        with self._lock:
            if key in self._objects:
                raise AlreadyExists(f"{self._uri} has an object {key!r} already.")
            self._objects[key] = (bytes(data), self._clock())

    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        with self._lock:
            found = [
                ObjectInfo(key, len(data), modified)
                for key, (data, modified) in self._objects.items()
                if key.startswith(prefix) and key > start_after
            ]
        return iter(sorted(found, key=lambda info: info.key))

    def delete(self, keys: Iterable[str]) -> None:
        checked: builtins.list[str] = [check_key(key) for key in keys]
        with self._lock:
            for key in checked:
                self._objects.pop(key, None)

    def open_input(self, key: str) -> pa.NativeFile:
        return pa.BufferReader(self.get(key))
