"""A store that fails on demand, to try what callers do about it."""

import builtins
import contextlib
import enum
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import pyarrow as pa

from instar.storage.keys import check_prefix
from instar.storage.protocol import AlreadyExists, DidNotHappen, MayHaveHappened, ObjectInfo, Store, Throttled

Operation = Literal["get", "get_range", "put", "put_if_absent", "list", "delete", "open_input"]
Result = TypeVar("Result")

_WRITES = ("put", "put_if_absent", "delete")


class FaultKind(enum.Enum):
    FAIL_BEFORE = enum.auto()
    """Raise DidNotHappen, and do nothing."""
    FAIL_AFTER = enum.auto()
    """Do it, and raise MayHaveHappened."""
    THROTTLE = enum.auto()
    """Raise Throttled, and do nothing."""
    DELAY = enum.auto()
    """Wait for `seconds`, then do it."""
    STALE_LIST = enum.auto()
    """List what the last honest listing could have seen, or what was there when the wrapper was made."""
    TORN_LIST = enum.auto()
    """List about half of what is there, then raise DidNotHappen."""
    LATE = enum.auto()
    """Raise MayHaveHappened, and do it only behind the next operation, as a request does that got stuck on its way."""
    CRASH_BEFORE = enum.auto()
    """Raise Crashed instead of doing it, and for every operation that follows."""
    CRASH_AFTER = enum.auto()
    """Do it, raise Crashed, and do so for every operation that follows."""


@dataclass(frozen=True)
class Fault:
    """Strike at the `nth` call (from 1) of one operation, or of any."""

    operation: Operation | Literal["any"]
    nth: int
    kind: FaultKind
    seconds: float = 0.0


class Crashed(BaseException):
    """The end of the process, as far as the code under test can tell. No `except Exception` survives it."""


class FaultyStore:
    """Pass everything on to `inner`, but for the faults of the plan. `calls` records each operation and its key."""

    def __init__(
        self, inner: Store, plan: Sequence[Fault] = (), *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._inner = inner
        self._plan = tuple(plan)
        self._pause = pause
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._crashed = False
        self._late: builtins.list[Callable[[], object]] = []
        self._keeps_listings = any(fault.kind is FaultKind.STALE_LIST for fault in plan)
        self._seen: tuple[ObjectInfo, ...] = ()
        self._remember()
        self.calls: builtins.list[tuple[Operation, str]] = []

    @property
    def uri(self) -> str:
        return self._inner.uri

    def get(self, key: str) -> bytes:
        return self._run("get", key, lambda: self._inner.get(key))

    def get_range(self, key: str, start: int, length: int) -> bytes:
        return self._run("get_range", key, lambda: self._inner.get_range(key, start, length))

    def put(self, key: str, data: bytes) -> None:
        self._run("put", key, lambda: self._inner.put(key, data))

    def put_if_absent(self, key: str, data: bytes) -> None:
        self._run("put_if_absent", key, lambda: self._inner.put_if_absent(key, data))

    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        def honest() -> Iterator[ObjectInfo]:
            self._remember()
            return self._inner.list(prefix, start_after)

        def stale() -> Iterator[ObjectInfo]:
            check_prefix(prefix)
            return (info for info in self._seen if info.key.startswith(prefix) and info.key > start_after)

        def torn() -> Iterator[ObjectInfo]:
            found = builtins.list(honest())
            yield from found[: len(found) // 2]
            raise DidNotHappen(f"list of {prefix!r} broke off, as planned.")

        return self._run("list", prefix, honest, {FaultKind.STALE_LIST: stale, FaultKind.TORN_LIST: torn})

    def delete(self, keys: Iterable[str]) -> None:
        doomed = tuple(keys)
        self._run("delete", " ".join(doomed), lambda: self._inner.delete(doomed))

    def open_input(self, key: str) -> pa.NativeFile:
        return self._run("open_input", key, lambda: self._inner.open_input(key))

    def _run(
        self,
        operation: Operation,
        key: str,
        action: Callable[[], Result],
        instead: Mapping[FaultKind, Callable[[], Result]] | None = None,
    ) -> Result:
        kinds = self._strike(operation, key)
        late, self._late = self._late, []
        if FaultKind.CRASH_BEFORE in kinds:
            raise Crashed
        if FaultKind.FAIL_BEFORE in kinds:
            raise DidNotHappen(f"{operation} of {key!r} failed before it happened, as planned.")
        if FaultKind.THROTTLE in kinds:
            raise Throttled(f"{operation} of {key!r} was throttled, as planned.")
        if FaultKind.LATE in kinds:
            if operation not in _WRITES:
                raise DidNotHappen(f"{operation} of {key!r} had no reply, as planned.")
            self._late.append(action)
            self._arrive(late)
            raise MayHaveHappened(f"{operation} of {key!r} is on its way, as planned.")
        for kind, other in (instead or {}).items():
            action = other if kind in kinds else action
        try:
            return action()
        finally:  # a lost reply hides any answer, a refusal too
            self._arrive(late)
            if FaultKind.CRASH_AFTER in kinds:
                raise Crashed
            if FaultKind.FAIL_AFTER in kinds:
                unknown = MayHaveHappened if operation in _WRITES else DidNotHappen
                raise unknown(f"{operation} of {key!r} failed after it happened, as planned.")

    def settle(self) -> None:
        """Let what is still on its way arrive, as it may long after the process that sent it has ended."""
        late, self._late = self._late, []
        self._arrive(late)

    def _arrive(self, late: "builtins.list[Callable[[], object]]") -> None:
        for action in late:
            with contextlib.suppress(AlreadyExists):
                action()

    def _strike(self, operation: Operation, key: str) -> set[FaultKind]:
        """Count the call, sit out its delays, and return the kinds of its other faults."""
        with self._lock:
            if self._crashed:
                raise Crashed
            self.calls.append((operation, key))
            self._counts.update((operation, "any"))
            struck = [
                fault
                for fault in self._plan
                if self._counts[fault.operation] == fault.nth and fault.operation in (operation, "any")
            ]
            kinds = {fault.kind for fault in struck}
            self._crashed = not kinds.isdisjoint({FaultKind.CRASH_BEFORE, FaultKind.CRASH_AFTER})
        for fault in struck:
            if fault.kind is FaultKind.DELAY:
                self._pause(fault.seconds)
        return kinds

    def _remember(self) -> None:
        if self._keeps_listings:
            self._seen = tuple(self._inner.list(""))


class OverwritingStore(FaultyStore):
    """Answer success to every put-if-absent and overwrite, as servers do that ignore the condition."""

    def put_if_absent(self, key: str, data: bytes) -> None:
        self._run("put_if_absent", key, lambda: self._inner.put(key, data))
