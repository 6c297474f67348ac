"""Checksums over a part's file, so that a flipped bit is an error and never another value.

Parquet's own cover the data of pages alone: not their headers, and not the metadata of the file. So just before the
metadata, where Parquet's readers do not look, a part has CRC-32s of four bytes each: first that of the metadata, then
that of each column chunk, in the order of the metadata.
"""

import io
import struct
import zlib
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from instar.errors import InstarError

_MAGIC = b"PAR1"
_END_BYTES = 8
"""The length of the metadata, and the magic."""
_TAIL_BYTES = 65_536
"""So much of a file's end is read at once; the metadata of most is shorter."""


class DamagedFile(InstarError):
    """A file that is not what was written."""


def with_checksums(file: bytes, metadata: pq.FileMetaData) -> bytes:
    """Return a file that Parquet's writer made, with its checksums."""
    start = len(file) - _END_BYTES - _metadata_bytes(file)
    view = memoryview(file)
    found = [view[start:-_END_BYTES], *(view[first:after] for first, after in _chunk_ranges(metadata))]
    checksums = struct.pack(f"<{len(found)}I", *map(zlib.crc32, found))
    return b"".join([view[:start], checksums, view[start:]])


def open_checked(source: pa.NativeFile) -> tuple[pq.FileMetaData, "CheckedFile"]:
    """Return a file's metadata, unchecked, and the file as Parquet's reader takes it."""
    size = source.size()
    tail = source.read_at(min(size, _TAIL_BYTES), size - min(size, _TAIL_BYTES))
    if len(tail) < _END_BYTES or tail[-len(_MAGIC) :] != _MAGIC:
        raise DamagedFile("It does not end as a Parquet file does.")
    length = _metadata_bytes(tail)
    if length + _END_BYTES > size:
        raise DamagedFile(f"It has {size} bytes; its metadata alone should have {length}.")
    if length + _END_BYTES > len(tail):
        tail = source.read_at(length + _END_BYTES, size - length - _END_BYTES)
    encoded = tail[-length - _END_BYTES : -_END_BYTES]
    metadata = pq.read_metadata(pa.BufferReader(_MAGIC + encoded + tail[-_END_BYTES:]))
    return metadata, CheckedFile(source, size, encoded, metadata)


class CheckedFile:
    """A file that checks each column chunk that is read from it. Arrow reads chunks whole."""

    closed = False

    def __init__(self, source: pa.NativeFile, size: int, encoded: bytes, metadata: pq.FileMetaData) -> None:
        self._source, self._size, self._position = source, size, 0
        self._encoded, self._chunks = encoded, list(_chunk_ranges(metadata))
        self._checksums: dict[tuple[int, int], int] = {}

    def check_metadata(self) -> None:
        """Check the metadata, and learn the checksums of the chunks."""
        layout = struct.Struct(f"<{1 + len(self._chunks)}I")
        start = self._size - _END_BYTES - len(self._encoded) - layout.size
        if start < 0:
            raise DamagedFile("It has no checksums.")
        of_metadata, *of_chunks = layout.unpack(self._source.read_at(layout.size, start))
        if of_metadata != zlib.crc32(self._encoded):
            raise DamagedFile("The checksum over its metadata is wrong.")
        self._checksums = dict(zip(self._chunks, of_chunks, strict=True))

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
            if not inside and any(first < end and start < after for first, after in self._chunks):
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
            chunk = group.column(place)
            start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
            yield start, start + chunk.total_compressed_size


def _metadata_bytes(file: bytes) -> int:
    return int.from_bytes(file[-_END_BYTES : -len(_MAGIC)], "little")
