"""Duplicates inside one ingest."""

import pyarrow as pa

from instar.model.schema import MergeMode, TableSchema


def resolve_duplicates(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """Return one version per key, with the last non-null value of each field by position.

    Rows come in the order of their files and offsets, so that an origin holds one version per key and logical time.
    Keys keep the order of their first rows; a null in a key equals another. Append tables have no key, hence no
    duplicates.
    """
    if schema.merge_mode is not MergeMode.UPSERT:
        return rows
    keys = [column.name for column in schema.key_columns]
    values = [column.name for column in schema.value_columns]
    # Only a single thread keeps the order that "last" relies on.
    merged = rows.group_by(keys, use_threads=False).aggregate([(name, "last") for name in values])
    merged = merged.rename_columns([*keys, *values])
    return merged.select(schema.arrow_schema().names).cast(schema.arrow_schema())
