"""Rewrite parts: the same updates in other files."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from instar.catalog.snapshot import TableState
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.compare import Difference, compare_updates, same_values
from instar.parts.reader import open_part, read_part
from instar.parts.updates import sort_updates
from instar.plan.write import WriteTask, write_parts
from instar.storage.protocol import Store


@dataclass(frozen=True)
class Group:
    """Parts of one origin that are rewritten together."""

    origin: str
    generation: int
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Rewritten:
    """What became of a group.

    `differences` are datums on which the two encodings of an input disagree: then nothing was written, for it is not
    known which one is right.
    """

    group: Group
    updates_before: int
    updates_after: int
    same_content: bool
    differences: tuple[Difference, ...]
    records: pa.Table | None


def codec_parts(state: TableState) -> tuple[Group, ...]:
    """Return the parts that hold no structured columns, each by itself."""
    return tuple(
        Group(part["origin"], part["generation"], (part["key"],))
        for part in _parts(state)
        if part["format"] == PartFormat.CODEC
    )


def parts_to_compact(state: TableState) -> tuple[Group, ...]:
    """Return the parts to write anew as structured parts: origins that have blobs left, or several small parts in one
    partition.

    Origins stay apart, so that each can still be replaced by a later generation.
    """

    settings = state.schema.settings

    def worth_it(parts: list[dict[str, Any]]) -> bool:
        small = Counter(
            part["partition"]
            for part in parts
            if part["rows"] < settings.part_rows // 2 and part["bytes"] < settings.part_bytes // 2
        )
        blobs = any(part["format"] != PartFormat.STRUCTURED for part in parts)
        return blobs or any(count > 1 for count in small.values())

    by_origin: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for part in _parts(state):
        by_origin.setdefault((part["origin"], part["generation"]), []).append(part)
    return tuple(
        Group(origin, generation, tuple(part["key"] for part in parts))
        for (origin, generation), parts in by_origin.items()
        if worth_it(parts)
    )


def rewrite_group(store: Store, group: Group, task: WriteTask) -> Rewritten:
    """Store the updates of a group's parts as new parts, read those back, and compare."""
    read = [_read_trusted(store, key, task.schema) for key in group.keys]
    before = sort_updates(pa.concat_tables([updates for updates, _ in read]), task.schema)
    differences = tuple(difference for _, found in read for difference in found)
    if differences:
        return Rewritten(group, before.num_rows, 0, same_content=False, differences=differences, records=None)
    records = write_parts(store, before, task)
    stored = [read_part(store, key, task.schema) for key in records["key"].to_pylist()]
    after = pa.concat_tables(stored)
    return Rewritten(group, before.num_rows, after.num_rows, _same(before, after), (), records)


def _read_trusted(store: Store, key: str, schema: TableSchema) -> tuple[pa.Table, tuple[Difference, ...]]:
    """Return a part's updates and where its encodings, if it has two, disagree."""
    with open_part(store, key) as part:
        match part.footer.format:
            case PartFormat.STRUCTURED:
                return part.read_structured(schema.columns), ()
            case PartFormat.CODEC:
                return part.read_codec(schema.columns), ()
            case PartFormat.DUAL:
                codec, structured = part.read_codec(schema.columns), part.read_structured(schema.columns)
                return structured, compare_updates(key, codec, structured, schema).differences


def _same(before: pa.Table, after: pa.Table) -> bool:
    if before.num_rows != after.num_rows:
        return False
    pairs = zip(before.columns, after.columns, strict=True)
    return all(same_values(left, right).combine_chunks().true_count == before.num_rows for left, right in pairs)


def _parts(state: TableState) -> list[dict[str, Any]]:
    names = ["key", "format", "rows", "bytes", "partition", "origin", "generation"]
    rows: list[dict[str, Any]] = state.parts.select(names).to_pylist()
    return rows
