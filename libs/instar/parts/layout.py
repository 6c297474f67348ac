"""How the three formats lay updates out as Parquet columns.

| format     | columns                                                   |
|------------|-----------------------------------------------------------|
| codec      | k, v (blobs), t, d                                        |
| dual       | k, v, t, d, and the same rows as structs k_s, v_s         |
| structured | one per table column, then `_instar_t` and `_instar_d`    |

k holds the key columns and v the others; a table without a key has whole rows in k and empty blobs in v. A struct
without fields can't be stored, so a dual part has no v_s where v is empty. Table columns carry their id as Parquet
field id, in structs too, and may be null in every file whatever the table says: a delete has a key and no values.
"""

from collections.abc import Iterable

import pyarrow as pa

from instar.codec.protocol import Codec
from instar.codec.row import RowCodec
from instar.model.arrow import EXTENSION_KEY, OPAQUE_VERSION, extension_name, in_file
from instar.model.part import PartFormat
from instar.model.schema import D_COLUMN, FIELD_ID_KEY, T_COLUMN, UPDATE_FIELDS, Column, ColumnId, TableSchema

BLOBS = ("k", "v")
OPAQUE_CODEC = RowCodec()
_STRUCTS = {"k": "k_s", "v": "v_s"}
_TIME_AND_DIFF = (pa.field("t", pa.int64(), nullable=False), pa.field("d", pa.int64(), nullable=False))


def blob_columns(schema: TableSchema) -> dict[str, tuple[Column, ...]]:
    """Return the columns whose values each blob holds, in their order."""
    if schema.key:
        return {"k": schema.key_columns, "v": schema.value_columns}
    return {"k": schema.columns, "v": ()}


def time_and_diff(format: PartFormat) -> tuple[str, str]:
    """Return the names that the logical time and the diff have in a file of this format."""
    return (T_COLUMN, D_COLUMN) if format is PartFormat.STRUCTURED else ("t", "d")


def lay_out(updates: pa.Table, schema: TableSchema, format: PartFormat, codec: Codec) -> pa.Table:
    """Return the columns of a file that holds `updates`, rows in their order."""
    if format is PartFormat.STRUCTURED:
        return _structured(updates, schema)
    columns = [
        *((pa.field(blob, pa.binary(), nullable=False), codec.encode(of, updates)) for blob, of in _blobs(schema)),
        *zip(_TIME_AND_DIFF, (updates.column(T_COLUMN), updates.column(D_COLUMN)), strict=True),
    ]
    if format is PartFormat.DUAL:
        columns += [_struct(_STRUCTS[blob], of, updates) for blob, of in _blobs(schema) if of]
    fields, arrays = zip(*columns, strict=True)
    return pa.Table.from_arrays(list(arrays), schema=pa.schema(fields))


def stored_columns(fields: pa.Schema, format: PartFormat) -> dict[ColumnId, tuple[str, ...]]:
    """Return the path of each table column that a file stores as values, found by its field id."""
    if format is PartFormat.STRUCTURED:
        return {number: (field.name,) for number, field in _with_ids(fields)}
    return {
        number: (struct, child.name)
        for struct in _STRUCTS.values()
        if struct in fields.names
        for number, child in _with_ids(fields.field(struct).type)
    }


def _blobs(schema: TableSchema) -> Iterable[tuple[str, tuple[Column, ...]]]:
    return blob_columns(schema).items()


def _structured(updates: pa.Table, schema: TableSchema) -> pa.Table:
    stored = [_stored(column, updates) for column in schema.columns]
    fields = [*map(_file_field, schema.columns, (values.type for values in stored)), *UPDATE_FIELDS]
    arrays = [*stored, updates.column(T_COLUMN), updates.column(D_COLUMN)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _struct(name: str, columns: tuple[Column, ...], updates: pa.Table) -> tuple[pa.Field, pa.Array]:
    arrays = [_one_array(_stored(column, updates)) for column in columns]
    fields = [*map(_file_field, columns, (values.type for values in arrays))]
    return pa.field(name, pa.struct(fields), nullable=False), pa.StructArray.from_arrays(arrays, fields=fields)


def _stored(column: Column, updates: pa.Table) -> pa.ChunkedArray:
    if column.encoding == OPAQUE_VERSION:
        return pa.chunked_array([OPAQUE_CODEC.encode([column], updates)])
    return in_file(updates.column(column.name), column.type)


def _file_field(column: Column, stored: pa.DataType) -> pa.Field:
    name = extension_name(column.type, column.encoding)
    metadata = {FIELD_ID_KEY: str(column.id).encode()} | ({EXTENSION_KEY: name.encode()} if name else {})
    return pa.field(column.name, stored, nullable=True, metadata=metadata)


def _one_array(values: pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)


def _with_ids(fields: Iterable[pa.Field]) -> Iterable[tuple[ColumnId, pa.Field]]:
    for field in fields:
        if field.metadata and FIELD_ID_KEY in field.metadata:
            yield ColumnId(int(field.metadata[FIELD_ID_KEY])), field
