"""Find out by trying whether a store keeps the promises that commits rest on."""

import enum
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from instar.clock import UuidSource, random_uuid
from instar.storage.protocol import AlreadyExists, MayHaveHappened, NotFound, Store, StoreError


@dataclass(frozen=True)
class ProbeCheck:
    """One promise, whether the store kept it, and what was seen."""

    name: str
    ok: bool
    detail: str


class _Broken(Exception):
    """A promise that was not kept."""


class _Outcome(enum.Enum):
    """What a racer was told."""

    WON = enum.auto()
    LOST = enum.auto()
    UNKNOWN = enum.auto()


def probe(
    store: Store, prefix: str, racers: int = 32, rounds: int = 3, *, uuids: UuidSource = random_uuid
) -> tuple[ProbeCheck, ...]:
    """Try the store below a fresh folder of `prefix`, and delete what was written.

    A store that passes may still fail on another day; one that fails must not be trusted with commits.
    """
    folder = f"{prefix.strip('/')}/{uuids()}".lstrip("/")
    raced = [f"{folder}/raced-{number}" for number in range(rounds)]
    written, overwritten = f"{folder}/written", f"{folder}/overwritten"
    listed = [f"{folder}/listed-{number}" for number in range(rounds)]
    return (
        _check("put if absent", lambda: _race(store, raced, racers)),
        _check("read after write", lambda: _read_after_write(store, written)),
        _check("list after write", lambda: _list_after_write(store, listed)),
        _check("overwrite is visible", lambda: _overwrite(store, overwritten, rounds)),
        _check("delete", lambda: _delete(store, [*raced, written, *listed, overwritten])),
    )


def _check(name: str, attempt: Callable[[], str]) -> ProbeCheck:
    try:
        return ProbeCheck(name, ok=True, detail=attempt())
    except (_Broken, StoreError) as error:
        return ProbeCheck(name, ok=False, detail=str(error))


def _race(store: Store, keys: Sequence[str], racers: int) -> str:
    for key in keys:
        with ThreadPoolExecutor(racers) as pool:
            start = threading.Barrier(racers)
            entries = [pool.submit(_run_for, store, key, f"racer {number}".encode(), start) for number in range(racers)]
            outcomes = [entry.result() for entry in entries]
        told = [data for data, outcome in outcomes if outcome is _Outcome.WON]
        unsure = [data for data, outcome in outcomes if outcome is _Outcome.UNKNOWN]
        if len(told) > 1:
            raise _Broken(f"{len(told)} of {racers} racers for {key} were told that they won; others were overwritten.")
        stored = store.get(key)
        if stored not in (told or unsure):
            raise _Broken(f"{key} holds {stored!r}, which is not what its winner wrote.")
        if _run_for(store, key, b"latecomer", threading.Barrier(1))[1] is _Outcome.WON or store.get(key) != stored:
            raise _Broken(f"{key} was overwritten by a put-if-absent that came after the race.")
    return f"{len(keys)} races of {racers}: one winner each."


def _run_for(store: Store, key: str, data: bytes, start: threading.Barrier) -> tuple[bytes, _Outcome]:
    start.wait()
    try:
        store.put_if_absent(key, data)
    except AlreadyExists:
        return data, _Outcome.LOST
    except MayHaveHappened:
        return data, _Outcome.UNKNOWN
    return data, _Outcome.WON


def _read_after_write(store: Store, key: str) -> str:
    try:
        store.get(key)
    except NotFound:
        pass
    else:
        raise _Broken(f"{key} existed before it was written.")
    store.put_if_absent(key, b"written")
    if (seen := store.get(key)) != b"written":
        raise _Broken(f"{key} holds {seen!r}, not what was written.")
    return "An object can be read as soon as it is written, also where a read had missed it before."


def _list_after_write(store: Store, keys: Sequence[str]) -> str:
    folder = f"{keys[0].rpartition('/')[0]}/listed-"
    for count, key in enumerate(keys, start=1):
        store.put_if_absent(key, b"listed")
        seen = [info.key for info in store.list(folder)]
        if seen != sorted(keys[:count]):
            raise _Broken(f"A listing right after the write of {key} shows {len(seen)} objects instead of {count}.")
    return f"{len(keys)} listings: each shows the object written before it."


def _overwrite(store: Store, key: str, rounds: int) -> str:
    for number in range(rounds + 1):
        data = f"version {number}".encode()
        store.put(key, data)
        if (seen := store.get(key)) != data:
            raise _Broken(f"{key} holds {seen!r} right after {data!r} was put.")
    return f"{rounds} overwrites: each is read at once."


def _delete(store: Store, keys: Sequence[str]) -> str:
    store.delete(keys)
    for key in keys:
        try:
            store.get(key)
        except NotFound:
            continue
        raise _Broken(f"{key} can be read after it was deleted.")
    return f"{len(keys)} objects deleted, none left."
