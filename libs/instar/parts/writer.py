"""Write updates as one part."""

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from instar.codec.registry import DEFAULT_CODEC, codec_named
from instar.model.arrow import OPAQUE_VERSION
from instar.model.part import PART_FIELDS, PartFormat
from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.model.types import BOOL, FLOATS
from instar.parts.budget import fit_budget
from instar.parts.checksums import FOOTER_KEY, with_checksums
from instar.parts.encodings import choose_encodings
from instar.parts.footer import ROW_GROUPS_KEY, Footer, Provenance, row_groups_to_bytes
from instar.parts.layout import BLOBS, lay_out, stored_columns
from instar.parts.names import part_key
from instar.parts.statistics import PartStatistics, collect_statistics, statistics_table
from instar.parts.updates import check_updates, sort_updates

ROW_GROUP_ROWS = 65_536
_FALSE_POSITIVES = 0.01
_AHEAD = 2


@dataclass(frozen=True)
class WrittenPart:
    """A part that is ready to be put."""

    key: str
    data: bytes
    record: pa.Table
    """What the catalog keeps of it: one row, PART_FIELDS and the statistics columns."""


def write_part(
    updates: pa.Table,
    schema: TableSchema,
    format: PartFormat,
    provenance: Provenance,
    *,
    ordinal: int = 0,
    codec: str = DEFAULT_CODEC,
    row_group_rows: int = ROW_GROUP_ROWS,
) -> WrittenPart:
    """Return a part that holds `updates`, sorted by the table's order and then by logical time.

    The updates must fit `schema.update_schema()`; an empty batch is refused. The same arguments give the same bytes.
    """
    rows = sort_updates(check_updates(updates, schema), schema)
    in_files = schema.in_files()
    rows = rows.rename_columns(in_files.update_schema().names)
    slices = [rows.slice(start, row_group_rows) for start in range(0, rows.num_rows, row_group_rows)]
    footer = make_footer(rows, in_files, format, provenance, codec=codec)
    known = [_statistics(in_files, each) for each in slices] if len(slices) > 1 else []
    of_codec = codec_named(codec)
    groups = _ahead(lambda each: lay_out(each, in_files, format, of_codec), slices)
    return seal_part(groups, footer, known, ordinal=ordinal)


def make_footer(
    rows: pa.Table,
    schema: TableSchema,
    format: PartFormat,
    provenance: Provenance,
    *,
    codec: str = DEFAULT_CODEC,
) -> Footer:
    """Return the footer of a part that holds `rows`."""
    times = pc.min_max(rows.column(T_COLUMN))
    return Footer(
        provenance=provenance,
        schema=schema,
        format=format,
        codec=None if format is PartFormat.STRUCTURED else codec,
        first_t=times["min"].as_py(),
        last_t=times["max"].as_py(),
        has_deletes=pc.any(pc.less(rows.column(D_COLUMN), 0)).as_py(),
        statistics=_statistics(schema, rows),
    )


def _statistics(schema: TableSchema, rows: pa.Table) -> PartStatistics:
    return fit_budget(collect_statistics(schema, rows), schema)


def seal_part(
    groups: Iterable[pa.Table], footer: Footer, known: Sequence[PartStatistics] = (), *, ordinal: int = 0
) -> WrittenPart:
    """Return the file of row groups, sorted and laid out as the footer says, with the footer inside.

    `known` has the statistics of each group, where there are several.
    """
    rest = iter(groups)
    first = next(rest)
    encodings = choose_encodings(first, footer.format)
    sink = pa.BufferOutputStream()
    written: list[pq.FileMetaData] = []
    with pq.ParquetWriter(
        sink,
        first.schema,
        compression=encodings.compression,
        use_dictionary=encodings.dictionaries,
        column_encoding=encodings.others,
        sorting_columns=_sorting_columns(first, footer),
        write_page_index=True,
        write_page_checksum=True,
        bloom_filter_options=_bloom_filters(first, footer),
        metadata_collector=written,
    ) as writer:
        for group in itertools.chain([first], rest):
            writer.write_table(group, row_group_size=group.num_rows)
        # Not as metadata of the Arrow schema, which is stored a second time.
        of_groups = {ROW_GROUPS_KEY: row_groups_to_bytes(known)} if known else {}
        writer.add_key_value_metadata({FOOTER_KEY: footer.to_bytes(), **of_groups})
    data = with_checksums(sink.getvalue(), written[0])
    key = part_key(footer.provenance, ordinal)
    codec_bytes = _stored_bytes(written[0], BLOBS) if footer.codec else 0
    return WrittenPart(key, data, part_record(key, footer, size=len(data), codec_bytes=codec_bytes))


def _ahead(make: Callable[[pa.Table], pa.Table], slices: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield what is made of each slice, in order; threads make the next ones while one is in use."""
    with ThreadPoolExecutor(_AHEAD) as threads:
        coming: deque[Future[pa.Table]] = deque()
        for each in slices:
            coming.append(threads.submit(make, each))
            if len(coming) > _AHEAD:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def part_record(key: str, footer: Footer, *, size: int, codec_bytes: int) -> pa.Table:
    """Return what the catalog keeps of a part: one row, PART_FIELDS and the statistics columns."""
    provenance = footer.provenance
    fixed: dict[str, Any] = {
        "key": key,
        "format": footer.format.value,
        "rows": footer.rows,
        "bytes": size,
        "codec_bytes": codec_bytes,
        "first_t": footer.first_t,
        "last_t": footer.last_t,
        "partition": provenance.partition,
        "origin": provenance.origin,
        "generation": provenance.generation,
        "attempt": provenance.attempt,
        "transaction": str(provenance.transaction),
        "batch_version": footer.batch_version,
        "has_deletes": footer.has_deletes,
    }
    record = pa.Table.from_pylist([fixed], schema=PART_FIELDS)
    statistics = statistics_table([footer.statistics])
    return pa.Table.from_arrays(
        [*record.columns, *statistics.columns], schema=pa.schema([*record.schema, *statistics.schema])
    )


def _sorting_columns(content: pa.Table, footer: Footer) -> list[pq.SortingColumn] | None:
    """Return the order of a flat file's rows, as far as Parquet can say it: its floats have no order with NaN."""
    if footer.format is not PartFormat.STRUCTURED:
        return None
    sort_by = [footer.schema.column_by_id(column_id) for column_id in footer.schema.sort_by]
    ordered = list(itertools.takewhile(lambda column: column.type not in FLOATS, sort_by))
    names = [column.name for column in ordered] + [T_COLUMN] * (len(ordered) == len(sort_by))
    return [pq.SortingColumn(content.column_names.index(name)) for name in names] or None


def _bloom_filters(content: pa.Table, footer: Footer) -> dict[str, dict[str, float]]:
    """Return Parquet's bloom filters, for engines that read them."""
    stored = stored_columns(content.schema, footer.format)
    columns = [footer.schema.column_by_id(number) for number in footer.schema.lookup if number in stored]
    return {
        ".".join(stored[column.id]): {"ndv": content.num_rows, "fpp": _FALSE_POSITIVES}
        for column in columns
        if column.encoding != OPAQUE_VERSION and column.type != BOOL
    }


def _stored_bytes(metadata: pq.FileMetaData, top_level: tuple[str, ...]) -> int:
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    chunks = (group.column(number) for group in groups for number in range(group.num_columns))
    return sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema in top_level)
