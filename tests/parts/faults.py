"""Parts as a faulty encoder would write them."""

from typing import Any

import pyarrow as pa

from instar.codec.registry import codec_named
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.footer import Provenance
from instar.parts.layout import lay_out
from instar.parts.updates import check_updates, sort_updates
from instar.parts.writer import WrittenPart, make_footer, seal_part


def lying_dual_part(blobs: pa.Table, structs: pa.Table, schema: TableSchema, provenance: Provenance) -> WrittenPart:
    """Write a valid dual part whose blobs hold the rows of one table, and whose structs those of another."""
    content, other = (lay_out(rows, schema, PartFormat.DUAL, codec_named("row")) for rows in (blobs, structs))
    for struct in {"k_s", "v_s"} & set(content.column_names):
        place = content.schema.get_field_index(struct)
        content = content.set_column(place, content.schema.field(place), other.column(struct))
    return seal_part(content, make_footer(blobs, schema, PartFormat.DUAL, provenance))


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
