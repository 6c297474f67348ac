"""Examine a store: from one place, whether it keeps its promises; from every place, whether it can be used."""

from collections.abc import Iterator

from instar.doctor.finding import Area, Finding, Level
from instar.errors import InstarError
from instar.storage.config import StoreConfig, open_store
from instar.storage.probe import probe

FOLDER = "_instar_doctor"

_MEANINGS = {
    "put if absent": "Commits rest on it: of many writers of one revision exactly one may win.",
    "read after write": "A reader finds what a commit names.",
    "list after write": "A reader finds the newest commit.",
}


def examine_promises(config: StoreConfig, racers: int) -> Iterator[Finding]:
    """Race many writers against the store and see whether it can be trusted with commits."""
    for check in probe(open_store(config), FOLDER, racers):
        level = Level.OK if check.ok else Level.ERROR
        remedy = "" if check.ok else "Do not keep a lake there: use another store, or another version of its server."
        meaning = _MEANINGS.get(check.name, "The store does what it acknowledges.")
        yield Finding(Area.STORE, config.uri, check.name, level, check.detail, meaning, remedy)


def examine_access(area: Area, where: str, config: StoreConfig, key: str) -> Finding:
    """Write, read, list and delete one object from here."""
    meaning = "Parts are written and read from there, with that machine's own credentials."
    name = f"{FOLDER}/{key}"
    try:
        store = open_store(config)
        store.put(name, where.encode())
        seen = store.get(name) == where.encode() and name in {info.key for info in store.list(name)}
        store.delete([name])
    except InstarError as error:
        remedy = error.help or "Give that machine credentials for the store (AWS's standard chain) and a route to it."
        return Finding(area, where, "store access", Level.ERROR, error.fact, meaning, remedy)
    if not seen:
        remedy = "Use a store that shows what it acknowledged."
        return Finding(area, where, "store access", Level.ERROR, "wrote, but could not see it", meaning, remedy)
    return Finding(area, where, "store access", Level.OK, "wrote, read, listed, deleted", meaning)
