"""Checksums over a part's file, so that a flipped bit is an error and never another value.

Parquet's own cover the data of pages alone: not their headers, and not the metadata of the file. So just before the
metadata, where Parquet's readers do not look, a part has CRC-32s of four bytes each: that of each column chunk, in the
order of the metadata, and that of the metadata; four bytes say that they are there.
"""

import io
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from instar.errors import InstarError

FOOTER_KEY = b"instar.part"
_MAGIC = b"PAR1"
_END_BYTES = 8
"""The length of the metadata, and the magic."""
_OURS = b"INST"
_SEAL_BYTES = 8
"""The checksum of the metadata, and our magic."""
_TAIL_BYTES = 65_536
"""So much of a file's end is read at once; the metadata of most is shorter."""


class DamagedFile(InstarError):
    """A file that is not what was written."""


class ForeignFile(InstarError):
    """A file that is no part."""


def with_checksums(file: pa.Buffer, metadata: pq.FileMetaData) -> bytes:
    """Return a file that Parquet's writer made, with its checksums."""
    view = memoryview(file)
    start = len(view) - _END_BYTES - _metadata_bytes(view)
    chunks = [zlib.crc32(view[first:after]) for first, after in _chunk_ranges(metadata)]
    seal = struct.pack("<I4s", zlib.crc32(view[start:-_END_BYTES]), _OURS)
    return b"".join([view[:start], struct.pack(f"<{len(chunks)}I", *chunks), seal, view[start:]])


def open_checked(source: pa.NativeFile) -> "CheckedParquet":
    """Open a part's file. Its metadata is parsed after its checksum was found right: Arrow may crash on others."""
    size = source.size()
    tail = source.read_at(min(size, _TAIL_BYTES), size - min(size, _TAIL_BYTES))
    if len(tail) < _END_BYTES or tail[-len(_MAGIC) :] != _MAGIC:
        raise DamagedFile("It does not end as a Parquet file does.")
    length = _metadata_bytes(tail)
    whole = _SEAL_BYTES + length + _END_BYTES
    if len(tail) < whole <= size:
        tail = source.read_at(whole, size - whole)
    seal, encoded = tail[-whole : _SEAL_BYTES - whole], tail[_SEAL_BYTES - whole : -_END_BYTES]
    if len(tail) < whole or not seal.endswith(_OURS):
        if FOOTER_KEY in tail:
            raise DamagedFile("Its checksums are not where they were.")
        raise ForeignFile("It is a Parquet file, but no part.")
    if seal != struct.pack("<I4s", zlib.crc32(encoded), _OURS):
        raise DamagedFile("The checksum over its metadata is wrong.")
    metadata = pq.read_metadata(pa.BufferReader(_MAGIC + encoded + tail[-_END_BYTES:]))
    chunks = list(_chunk_ranges(metadata))
    layout = struct.Struct(f"<{len(chunks)}I")
    before = tail[: len(tail) - whole]
    if len(before) < layout.size:
        before = source.read_at(layout.size, size - whole - layout.size)
    checksums = layout.unpack(before[len(before) - layout.size :])
    checked = _CheckedFile(source, size, dict(zip(chunks, checksums, strict=True)))
    in_memory = isinstance(source, pa.BufferReader | pa.MemoryMappedFile)
    file = pq.ParquetFile(source if in_memory else pa.PythonFile(checked, mode="r"), metadata=metadata)
    return CheckedParquet(file, checked if in_memory else None)


@dataclass(frozen=True)
class CheckedParquet:
    """A Parquet file whose column chunks are checked before Arrow decodes them."""

    file: pq.ParquetFile
    in_memory: "_CheckedFile | None"
    """The file's bytes, where they can be looked at twice: Arrow then reads them by itself, in parallel."""

    def read(self, columns: Sequence[str], row_groups: Sequence[int] | None) -> pa.Table:
        """Return columns, named by their paths, of some row groups or of all."""
        groups = range(self.file.num_row_groups) if row_groups is None else row_groups
        if self.in_memory is not None:
            self._check(self.in_memory, columns, groups)
        return self.file.read_row_groups(list(groups), list(columns))

    def _check(self, source: "_CheckedFile", columns: Sequence[str], groups: Iterable[int]) -> None:
        starts = tuple(f"{column}." for column in columns)
        leaves = range(self.file.metadata.num_columns)
        wanted = [place for place in leaves if f"{self.file.schema.column(place).path}.".startswith(starts)]
        for group in map(self.file.metadata.row_group, groups):
            for place in wanted:
                start, end = _chunk_range(group.column(place))
                source.seek(start)
                source.read(end - start)


class _CheckedFile:
    """A file that checks each column chunk that is read from it. Arrow reads chunks whole."""

    closed = False

    def __init__(self, source: pa.NativeFile, size: int, checksums: Mapping[tuple[int, int], int]) -> None:
        self._source, self._size, self._position = source, size, 0
        self._checksums = checksums

    def read(self, size: int) -> pa.Buffer:
        self._source.seek(self._position)
        data = self._source.read_buffer(size)
        self._check(data, self._position)
        self._position += data.size
        return data

    def _check(self, data: pa.Buffer, start: int) -> None:
        end = start + data.size
        exact = self._checksums.get((start, end))
        if exact is not None:
            inside = {(start, end): exact}
        else:
            inside = {of: found for of, found in self._checksums.items() if start <= of[0] and of[1] <= end}
            if not inside and any(first < end and start < after for first, after in self._checksums):
                raise DamagedFile("A column was read in pieces, which can't be checked.")
        view = memoryview(data)
        for (first, after), checksum in inside.items():
            if zlib.crc32(view[first - start : after - start]) != checksum:
                raise DamagedFile(f"The checksum over the bytes {first} to {after} is wrong.")

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        self._position = position + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        """Leave the source to whoever opened it."""


def _chunk_ranges(metadata: pq.FileMetaData) -> Iterator[tuple[int, int]]:
    """Return where each column chunk begins and ends."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            yield _chunk_range(group.column(place))


def _chunk_range(chunk: pq.ColumnChunkMetaData) -> tuple[int, int]:
    start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return start, start + chunk.total_compressed_size


def _metadata_bytes(file: bytes | memoryview) -> int:
    return int.from_bytes(file[-_END_BYTES : -len(_MAGIC)], "little")
