"""The protocol of object stores, and the errors that they raise."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from instar.errors import InstarError


class StoreError(InstarError):
    """An operation on a store that did not return what was asked."""


class DidNotHappen(StoreError):
    """A failure that left the store as it was: trying again is safe. Failed reads are of this kind too."""


class Throttled(DidNotHappen):
    """A store that asks for fewer requests."""


class MayHaveHappened(StoreError):
    """A write whose outcome is unknown: look at the store before you act on it, and never undo it blindly."""


class NotFound(StoreError):
    """A key without an object."""


class AlreadyExists(StoreError):
    """A put-if-absent that lost: another object has the key."""


class InvalidKey(StoreError):
    """A key that no store takes."""


class InvalidRange(StoreError):
    """A range that starts or ends before the object does."""


@dataclass(frozen=True)
class ObjectInfo:
    """What a listing tells about an object. The time of its last change is the store's, good for candidates only."""

    key: str
    size: int
    modified_micros: int


class Store(Protocol):
    """Keep immutable byte strings under keys.

    Keys are relative to the store's root: segments joined by `/`, none of them empty, `.` or `..`. An object appears
    whole or not at all, and once a put has returned it is durable and visible to every reader. No key is the folder
    of another one. Stores may be used by many threads at once.
    """

    @property
    def uri(self) -> str:
        """Return the root, without a slash at its end and without secrets."""

    def get(self, key: str) -> bytes:
        """Return the object's bytes, or raise NotFound."""

    def get_range(self, key: str, start: int, length: int) -> bytes:
        """Return up to `length` bytes from `start`; fewer, or none, where the object ends before."""

    def put(self, key: str, data: bytes) -> None:
        """Store `data`, replacing what was there."""

    def put_if_absent(self, key: str, data: bytes) -> None:
        """Store `data`, or raise AlreadyExists where the key has an object. Of many racers one succeeds."""

    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        """Yield the objects whose keys start with `prefix` and are greater than `start_after`, at any depth.

        The prefix is text, not a folder. Keys ascend strictly by their UTF-8 bytes, which is also how Python compares
        strings. What is put or deleted while the listing runs may or may not show.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Delete the objects that exist; a missing one is fine."""

    def open_input(self, key: str) -> pa.NativeFile:
        """Open the object for random access, or raise NotFound."""
