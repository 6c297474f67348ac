"""The rule of origins: one origin and generation is committed once, and a higher generation replaces a lower one."""

import enum

import pyarrow.compute as pc

from instar.catalog.actions import Action, RemoveParts, Run, added
from instar.catalog.snapshot import Snapshot, TableState
from instar.errors import InstarError


class OriginConflict(InstarError):
    """A run that comes after a newer one of the same origin."""


class OriginSealed(OriginConflict):
    """A run whose origin can no longer be replaced."""


class _Standing(enum.Enum):
    NEW = enum.auto()
    REPLACES = enum.auto()
    COMMITTED = enum.auto()


def is_committed(snapshot: Snapshot, actions: tuple[Action, ...]) -> bool:
    """Tell whether the runs that `actions` add have all been committed before: then nothing is left to do.

    Raise OriginConflict where only some have, for a transaction is repeated whole or not at all.
    """
    standings = {
        (action.table, run): _standing(snapshot.tables.get(action.table), action.table, run)
        for action in added(actions)
        for run in action.runs
    }
    done = [place for place, standing in standings.items() if standing is _Standing.COMMITTED]
    if done and len(done) != len(standings):
        table, run = done[0]
        raise OriginConflict(
            f"Generation {run.generation} of {run.origin!r} is in {table!r} already, but not all that it adds now.",
            help="Run it again under a higher generation.",
        )
    return bool(done)


def with_replacements(snapshot: Snapshot, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return `actions`, preceded by the removal of what their runs replace."""
    removals = []
    for action in added(actions):
        state = snapshot.tables.get(action.table)
        replaced = [
            run.origin for run in action.runs if state and _standing(state, action.table, run) is _Standing.REPLACES
        ]
        if state and replaced:
            keys = state.parts.filter(pc.is_in(state.parts["origin"], pc.unique(replaced)))["key"].to_pylist()
            removals.append(RemoveParts(action.table, tuple(keys)))
    return (*(removal for removal in removals if removal.keys), *actions)


def _standing(state: TableState | None, table: str, run: Run) -> _Standing:
    known = state.origins.get(run.origin) if state else None
    if known is None:
        return _Standing.NEW
    if run.generation == known.generation:
        return _Standing.COMMITTED
    if run.generation < known.generation:
        raise OriginConflict(
            f"{run.origin!r} is in {table!r} with generation {known.generation}; {run.generation} is older.",
            help="A newer run has replaced this one; let it be, or run it again under a higher generation.",
        )
    if known.sealed:
        raise OriginSealed(
            f"The rows of {run.origin!r} in {table!r} were merged with others and can't be replaced.",
            help="Write the correction as new rows, under an origin of its own.",
        )
    return _Standing.REPLACES
