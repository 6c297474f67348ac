"""Print how much memory Arrow takes at most, for a part of a number of row groups."""

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pyarrow as pa

from instar.codec.registry import codec_named
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.footer import Provenance
from instar.parts.layout import lay_out
from instar.parts.reader import read_row_groups
from instar.parts.writer import make_footer, seal_part
from instar.plan.write import as_updates
from instar.storage.local import LocalStore

ROWS = 50_000
SCHEMA = TableSchema.create("d.t", {"a": "string", "b": "int64"}, ids=iter(range(1, 9)).__next__)


def groups(count: int) -> Iterator[pa.Table]:
    """Yield rows that hardly take any bytes in a file, so that the file does not count."""
    for number in range(count):
        yield as_updates(pa.table({"a": ["x" * 100] * ROWS, "b": pa.repeat(pa.scalar(number, pa.int64()), ROWS)}), 0)


def main(work: str, count: int, folder: Path) -> int:
    pool = pa.default_memory_pool()
    of = Provenance("w", SCHEMA.name, "", UUID(int=1, version=4), "o", 0, 0)
    codec = codec_named("row")
    footer = make_footer(next(groups(1)), SCHEMA, PartFormat.DUAL, of)
    store = LocalStore(folder)
    if work == "write":
        part = seal_part((lay_out(each, SCHEMA, PartFormat.DUAL, codec) for each in groups(count)), footer)
        store.put(part.key, part.data)
        return int(pool.max_memory())
    key = next(iter(store.list(""))).key
    rows = 0
    for encoding in ("codec", "structured"):
        rows += sum(each.num_rows for each in read_row_groups(store, key, SCHEMA, read_format=encoding))
    assert rows == 2 * count * ROWS
    return int(pool.max_memory())


if __name__ == "__main__":
    print(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
