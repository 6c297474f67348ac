"""An encoder with a fault: what it writes is a valid dual part, but its two encodings do not say the same."""

from typing import Any

import pyarrow as pa

from instar.catalog.actions import AddParts
from instar.catalog.commit import Change, commit
from instar.codec.registry import codec_named
from instar.lake import Table
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.footer import Provenance
from instar.parts.layout import lay_out
from instar.parts.updates import check_updates, sort_updates
from instar.parts.writer import WrittenPart, make_footer, seal_part
from instar.plan.write import as_updates


def lying_dual_part(blobs: pa.Table, structs: pa.Table, schema: TableSchema, provenance: Provenance) -> WrittenPart:
    """Write a valid dual part whose blobs hold the rows of one table, and whose structs those of another."""
    content, other = (lay_out(rows, schema, PartFormat.DUAL, codec_named("row")) for rows in (blobs, structs))
    for struct in {"k_s", "v_s"} & set(content.column_names):
        place = content.schema.get_field_index(struct)
        content = content.set_column(place, content.schema.field(place), other.column(struct))
    return seal_part([content], make_footer(blobs, schema, PartFormat.DUAL, provenance))


def dual_part_with_wrong_value(
    updates: pa.Table, schema: TableSchema, provenance: Provenance, *, row: int, column: str, value: Any
) -> WrittenPart:
    """Write a valid dual part whose structs say `value` in one place, and whose blobs say the truth."""
    rows = sort_updates(check_updates(updates, schema), schema)
    place = rows.schema.get_field_index(column)
    field = rows.schema.field(place)
    cells = pa.concat_arrays(
        [
            *rows.column(place).slice(0, row).chunks,
            pa.array([value], field.type),
            *rows.column(place).slice(row + 1).chunks,
        ]
    )
    return lying_dual_part(rows, rows.set_column(place, field, cells), schema, provenance)


def append_with_wrong_value(
    table: Table, rows: pa.Table, *, t: int, origin: str, row: int, column: str, value: Any
) -> str:
    """Commit rows as one dual part with a wrong value in it; return the part's key."""
    lake, schema, uuid = table.lake, table.schema, table.lake.uuids()
    provenance = Provenance(lake.writer, table.name, "", uuid, origin, generation=0, attempt=0)
    part = dual_part_with_wrong_value(as_updates(rows, t), schema, provenance, row=row, column=column, value=value)
    lake.store.put(part.key, part.data)
    commit(table.join(), Change(uuid, (AddParts(table.name.table, part.record),)), clock=lake.clock)
    return part.key
