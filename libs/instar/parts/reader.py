"""Read parts back as updates."""

import contextlib
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from instar.codec.protocol import CodecError
from instar.codec.registry import codec_named
from instar.errors import InstarError
from instar.model.arrow import ENCODING_VERSION, OPAQUE_VERSION, encoding_version, in_memory, to_arrow
from instar.model.part import PartFormat
from instar.model.schema import UPDATE_FIELDS, Column, ColumnId, TableSchema
from instar.model.types import widens
from instar.parts.checksums import CheckedParquet, DamagedFile, ForeignFile, open_checked
from instar.parts.footer import Footer, parse_footer, parse_row_groups
from instar.parts.layout import OPAQUE_CODEC, blob_columns, stored_columns, time_and_diff
from instar.parts.statistics import statistics_table
from instar.storage.protocol import Store

ReadFormat = Literal["codec", "structured"]


class UnreadablePart(InstarError):
    """A file that can't be read as the part that it should be."""


class IgnoredPart(InstarError):
    """A part that holds nothing but structured columns of a batch version that is to be ignored."""


class ColumnTypeMismatch(InstarError):
    """A column whose type in a part is not the table's."""


def read_footer(store: Store, key: str) -> Footer:
    """Return what the part at `key` says about itself."""
    with open_part(store, key) as part:
        return part.footer


def read_part(
    store: Store,
    key: str,
    schema: TableSchema,
    *,
    columns: Sequence[str] | None = None,
    read_format: ReadFormat = "structured",
    ignore_batch_versions: AbstractSet[int] = frozenset(),
) -> pa.Table:
    """Return the updates of a part in file order: the asked columns (all by default), then logical time and diff.

    `read_format` chooses the encoding of dual parts; other parts are read from what they hold. Structured columns of
    an ignored batch version are not read. Columns are matched by id: one that the part lacks shows its initial default.
    """
    wanted = schema.columns if columns is None else tuple(schema.column(name) for name in columns)
    with open_part(store, key) as part:
        return part.read(wanted, _choose_encoding(part, read_format, ignore_batch_versions))


def read_row_groups(
    store: Store, key: str, schema: TableSchema, *, read_format: ReadFormat = "structured"
) -> Iterator[pa.Table]:
    """Yield the updates of a part, one row group after the other: memory is bounded by one, not by the file."""
    with open_part(store, key) as part:
        for number in range(part.file.num_row_groups):
            yield part.read(schema.columns, _choose_encoding(part, read_format, frozenset()), [number])


@dataclass(frozen=True)
class Stored:
    """How a column lies in a file."""

    bytes: int
    """Compressed."""
    encodings: frozenset[str]
    """Of its pages, and of their levels."""


@dataclass(frozen=True)
class OpenPart:
    """A part whose footer is read and whose columns are not."""

    key: str
    footer: Footer
    checked: CheckedParquet

    @property
    def file(self) -> pq.ParquetFile:
        return self.checked.file

    def read(self, wanted: Sequence[Column], encoding: ReadFormat, row_groups: Sequence[int] | None = None) -> pa.Table:
        """Return the updates that one encoding holds, of all row groups or of some."""
        read = self.read_codec if encoding == "codec" else self.read_structured
        return read(wanted, row_groups)

    def read_codec(self, wanted: Sequence[Column], row_groups: Sequence[int] | None = None) -> pa.Table:
        """Return the updates that the blobs hold."""
        ids = {column.id for column in wanted}
        blobs = {blob: of for blob, of in blob_columns(self.footer.schema).items() if ids & {c.id for c in of}}
        table = self._read(list(blobs), row_groups)
        codec = codec_named(self.footer.codec or "")
        found: dict[ColumnId, pa.ChunkedArray] = {}
        for blob, of in blobs.items():
            with _decoding(self.key, blob):
                rows = codec.decode(of, table.column(blob).combine_chunks())
            found.update(zip((column.id for column in of), rows.columns, strict=True))
        return self._assemble(wanted, found, table)

    def read_structured(self, wanted: Sequence[Column], row_groups: Sequence[int] | None = None) -> pa.Table:
        """Return the updates that the structured columns hold."""
        stored = stored_columns(self.file.schema_arrow, self.footer.format)
        paths = {column.id: stored[column.id] for column in wanted if column.id in stored}
        table = self._read([".".join(path) for path in paths.values()], row_groups)
        found = {column.id: self._values(column, paths[column.id], table) for column in wanted if column.id in paths}
        return self._assemble(wanted, found, table)

    def _values(self, column: Column, path: tuple[str, ...], table: pa.Table) -> pa.ChunkedArray:
        """Return a structured column as it is in memory."""
        version = encoding_version(_field(self.file.schema_arrow, path))
        values, written = _follow(table, path), self.footer.schema.column_by_id(column.id)
        if version == OPAQUE_VERSION:
            with _decoding(self.key, column.name):
                return OPAQUE_CODEC.decode([written], values.combine_chunks()).column(0)
        if version != ENCODING_VERSION:
            raise UnreadablePart(
                f"{self.key}, column {column.name!r}: encoding version {version} is unknown.",
                help="A newer release wrote it; read it with that.",
            )
        with _naming(self.key):
            return in_memory(values, written.type)

    def row_groups(self) -> pa.Table:
        """Return what is known of each row group, as the catalog has it of parts."""
        groups = parse_row_groups(self.file.metadata.metadata, self.key) or (self.footer.statistics,)
        return statistics_table(groups).append_column("rows", pa.array([of.rows for of in groups], pa.int64()))

    def stored(self) -> dict[ColumnId, "Stored"]:
        """Return how the structured columns lie in the file."""
        chunks: dict[tuple[str, ...], Stored] = {}
        paths = stored_columns(self.file.schema_arrow, self.footer.format)
        for chunk in _chunks(self.file.metadata):
            for path in paths.values():
                if f"{chunk.path_in_schema}.".startswith(".".join([*path, ""])):
                    before = chunks.get(path, Stored(0, frozenset()))
                    size = before.bytes + chunk.total_compressed_size
                    chunks[path] = Stored(size, before.encodings | set(chunk.encodings))
        return {number: chunks[path] for number, path in paths.items() if path in chunks}

    def _read(self, paths: list[str], row_groups: Sequence[int] | None) -> pa.Table:
        columns = [*paths, *time_and_diff(self.footer.format)]
        with _naming(self.key):
            return self.checked.read(columns, row_groups)

    def _assemble(self, wanted: Sequence[Column], found: dict[ColumnId, pa.ChunkedArray], table: pa.Table) -> pa.Table:
        arrays = []
        for column in wanted:
            values = found.get(column.id)
            if values is None:
                values = pa.chunked_array([column.repeat(column.initial_default, table.num_rows)])
            elif values.type != to_arrow(column.type):
                values = self._widen(column, values)
            arrays.append(values)
        arrays += [table.column(name) for name in time_and_diff(self.footer.format)]
        fields = [*map(self.footer.schema.update_field, wanted), *UPDATE_FIELDS]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def _widen(self, column: Column, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return values of a part that was written before its column was widened."""
        written = self.footer.schema.column_by_id(column.id)
        if values.type != to_arrow(written.type) or not widens(written.type, column.type):
            raise ColumnTypeMismatch(
                f"Column {column.name!r} is {column.type}, but {values.type} in {self.key}.",
                help="Read the part with the schema that it was written with.",
            )
        return values.cast(to_arrow(column.type))


@contextlib.contextmanager
def open_part(store: Store, key: str) -> Iterator[OpenPart]:
    """Open the part at `key` and read its footer."""
    with store.open_input(key) as source:
        with _naming(key):
            checked = open_checked(source)
        yield OpenPart(key, parse_footer(checked.file.metadata.metadata, key), checked)


def _chunks(metadata: pq.FileMetaData) -> Iterator[pq.ColumnChunkMetaData]:
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        yield from (group.column(place) for place in range(group.num_columns))


def _field(schema: pa.Schema, path: tuple[str, ...]) -> pa.Field:
    field = schema.field(path[0])
    for name in path[1:]:
        field = field.type.field(name)
    return field


def _follow(table: pa.Table, path: tuple[str, ...]) -> pa.ChunkedArray:
    values = table.column(path[0])
    for name in path[1:]:
        values = pc.struct_field(values, values.type.get_field_index(name))
    return values


def _choose_encoding(part: OpenPart, read_format: ReadFormat, ignored: AbstractSet[int]) -> ReadFormat:
    bad = part.footer.batch_version in ignored
    if part.footer.format is PartFormat.STRUCTURED:
        if bad:
            raise IgnoredPart(
                f"{part.key} is structured, of batch version {part.footer.batch_version}, which is to be ignored.",
                help="It has no other encoding: rewrite it from its source, or stop ignoring the version.",
            )
        return "structured"
    return "codec" if bad or part.footer.format is PartFormat.CODEC else read_format


@contextlib.contextmanager
def _decoding(key: str, column: str) -> Iterator[None]:
    try:
        yield
    except CodecError as error:
        raise UnreadablePart(f"{key}, column {column}: {error.fact}", help=error.help) from error


@contextlib.contextmanager
def _naming(key: str) -> Iterator[None]:
    try:
        yield
    except ForeignFile as error:
        raise ForeignFile(f"{key} is no part.", help="Name a file that Instar wrote.") from error
    except (pa.ArrowInvalid, OSError, DamagedFile) as error:
        fact = error.fact if isinstance(error, DamagedFile) else str(error).rstrip()
        raise UnreadablePart(
            f"{key} can't be read as Parquet: {fact}", help="If it reads the same again, the file is damaged."
        ) from error
