"""Adoption: one table of a sealed timeline becomes part of the same table in another."""

from dataclasses import replace

from instar.catalog.errors import InvalidAction
from instar.catalog.snapshot import TableState
from instar.catalog.tombstones import PlacedTombstone


def adopt_table(own: TableState | None, brought: TableState, revision: int) -> TableState:
    """Return the table that holds what both hold.

    An origin that both know can't be replaced any more: a later run would have to replace rows that two runs made.
    Tombstones that came along count as placed at `revision`.
    """
    tombstones = tuple(PlacedTombstone(placed.tombstone, revision) for placed in brought.tombstones)
    if own is None:
        return replace(brought, tombstones=tombstones)
    name = own.schema.name
    if own.schema != brought.schema:
        raise InvalidAction(
            f"The two timelines define {name} differently.", help="Alter the heir's table to the same schema first."
        )
    if own.flags != brought.flags:
        raise InvalidAction(
            f"The flags of {name} differ between the two timelines.", help="Give the heir's table the same flags first."
        )
    shared = own.origins.keys() & brought.origins.keys()
    sealed = {origin: replace(own.origins[origin], sealed=True) for origin in shared}
    return replace(
        own,
        part_set=own.part_set.add(brought.parts),
        origins=own.origins.updated({**brought.origins, **sealed}),
        tombstones=(*own.tombstones, *tombstones),
    )
