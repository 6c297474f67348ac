"""The `row` codec: a protobuf message per row, a datum per column, whole columns at a time."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from instar.codec import wire
from instar.codec.columns import check_types
from instar.codec.datum import COMPOSITE, LIMITS, SIZES, decode_rows, field_name
from instar.codec.row_pb2 import Datum
from instar.codec.wire import FIXED32, FIXED64, LENGTH, VARINT, Spans, join, tag_of, write_field
from instar.model import types
from instar.model.arrow import made_of, to_arrow
from instar.model.schema import Column
from instar.model.types import DataType
from instar.model.values import NUMERIC_TEXT

BATCH_ROWS = 16_384
"""Few enough for the working set to stay in the processor's caches."""
_MEMBER = tag_of(1, LENGTH)
"""Of a datum in a row, and of a value in a list or record."""
_NULL = tag_of(1, LENGTH) + b"\0"

_ZIGZAG = frozenset({types.INT16, types.INT32, types.INT64})
_FIXED = {
    types.FLOAT64: "<f8",
    types.FLOAT32: "<f4",
    types.DATE: "<i4",
    types.TIME: "<i8",
    types.TIMESTAMP: "<i8",
    types.TIMESTAMPTZ: "<i8",
    types.TIMESTAMP_NS: "<i8",
    types.MZ_TIMESTAMP: "<u8",
}
_BLOBS = frozenset({types.STRING, types.BYTES, types.NUMERIC, types.JSONB, types.UUID, types.INTERVAL})
_VARINTS = {
    types.BOOL: np.uint8,
    types.INT16: np.int16,
    types.INT32: np.int32,
    types.INT64: np.int64,
    types.UINT16: np.uint16,
    types.UINT32: np.uint32,
    types.UINT64: np.uint64,
}


class RowCodec:
    """Protobuf rows of datums, one per column and in their order; a null is explicit."""

    name = "row"

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        check_types(columns, rows)
        if not columns:
            return pa.array([b""] * rows.num_rows, pa.binary())
        chosen = pa.Table.from_arrays([rows.column(c.name) for c in columns], [str(n) for n in range(len(columns))])
        batches = (_one_chunk(chosen.slice(start, BATCH_ROWS)) for start in range(0, rows.num_rows, BATCH_ROWS))
        return _concat([_encode_members([c.type for c in columns], arrays) for arrays in batches], pa.binary())

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        batches = [
            _decode_batch(columns, blobs.slice(start, BATCH_ROWS), start) for start in range(0, len(blobs), BATCH_ROWS)
        ]
        arrays = [
            pa.chunked_array([batch[place] for batch in batches], to_arrow(column.type))
            for place, column in enumerate(columns)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema([column.arrow_field() for column in columns]))


def _one_chunk(table: pa.Table) -> list[pa.Array]:
    return [_concat(column.chunks, column.type) for column in table.columns]


def _concat(arrays: Sequence[pa.Array], data_type: pa.DataType) -> pa.Array:
    if len(arrays) == 1:
        return arrays[0]
    return pa.concat_arrays(arrays) if arrays else pa.array([], data_type)


def _tag(data_type: DataType) -> bytes:
    width = np.dtype(_FIXED[data_type]).itemsize if data_type in _FIXED else 0
    wire_type = VARINT if data_type in _VARINTS else {0: LENGTH, 4: FIXED32, 8: FIXED64}[width]
    return tag_of(Datum.DESCRIPTOR.fields_by_name[field_name(data_type)].number, wire_type)


# Encoding: values to blobs.


def _encode_members(data_types: Sequence[DataType], arrays: Sequence[pa.Array]) -> pa.BinaryArray:
    """Return a message per row that holds a datum of each array."""
    members = (_encode_member(data_type, array) for data_type, array in zip(data_types, arrays, strict=True))
    return join([piece for pieces in members for piece in pieces])


def _encode_member(data_type: DataType, values: pa.Array) -> wire.Pieces:
    """Return the pieces of a field that holds a datum."""
    if not values.null_count and data_type in _FIXED:
        return [_encode_fixed(data_type, values, member=True)]
    if not values.null_count and data_type in _BLOBS:
        blobs, tag = _to_blobs(data_type, values), _tag(data_type)
        if (heads := wire.short_heads(_MEMBER, tag, blobs)) is not None:
            return [heads, blobs]
    return write_field(_MEMBER, encode_datums(data_type, values))


def encode_datums(data_type: DataType, values: pa.Array) -> pa.BinaryArray:
    """Return a datum per value, nulls included."""
    if not values.null_count:
        return _encode_present(data_type, values)
    valid = values.is_valid()
    blobs = _encode_present(data_type, values.filter(valid))
    return pc.fill_null(blobs.take(_places(valid.to_numpy(zero_copy_only=False))), _NULL)


def _places(present: npt.NDArray[np.bool_]) -> pa.Array:
    """Return where each row's value is among those present; null where it has none."""
    return pa.array(np.cumsum(present) - 1, mask=~present)


def _encode_present(data_type: DataType, values: pa.Array) -> pa.BinaryArray:
    tag = _tag(data_type)
    if data_type in _VARINTS:
        return join([pa.scalar(tag, pa.binary()), wire.write_varints(_to_words(data_type, values))])
    if data_type in _FIXED:
        return _encode_fixed(data_type, values)
    if data_type.kind in COMPOSITE:
        return join(write_field(tag, _encode_composite(made_of(data_type), values)))
    return join(write_field(tag, _to_blobs(data_type, values)))


def _encode_fixed(data_type: DataType, values: pa.Array, *, member: bool = False) -> pa.BinaryArray:
    """Return a datum per value of a fixed size, or a field that holds it."""
    numbers, head = _to_numpy(values, _FIXED[data_type]), _tag(data_type)
    if member:
        head = _MEMBER + bytes([len(head) + numbers.itemsize]) + head
    rows = np.empty((len(values), len(head) + numbers.itemsize), np.uint8)
    rows[:, : len(head)] = np.frombuffer(head, np.uint8)
    rows[:, len(head) :] = numbers.view(np.uint8).reshape(len(values), numbers.itemsize)
    return wire.same_size(rows)


def _to_blobs(data_type: DataType, values: pa.Array) -> pa.BinaryArray:
    return (values.field("actual") if data_type == types.NUMERIC else values).cast(pa.binary())


def _encode_composite(stored: DataType, values: pa.Array) -> pa.BinaryArray:
    if stored.kind == "record":
        return _encode_members([part for _, part in stored.parts], [values.field(name) for name, _ in stored.parts])
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values.value_lengths().to_numpy(), out=offsets[1:])
    return wire.cut(_encode_members([stored.inner], [values.flatten()]), offsets)


def _to_words(data_type: DataType, values: pa.Array) -> wire.Words:
    if data_type == types.BOOL:
        values = values.cast(pa.uint8())
    numbers = values.to_numpy(zero_copy_only=False)
    return wire.zigzag(numbers.astype(np.int64)) if data_type in _ZIGZAG else numbers.astype(np.uint64)


def _to_numpy(values: pa.Array, dtype: str) -> npt.NDArray[np.generic]:
    """Return the numbers of a fixed-width array without nulls."""
    if not len(values):
        return np.empty(0, dtype)
    offset = values.offset * np.dtype(dtype).itemsize
    return np.frombuffer(values.buffers()[1], dtype, len(values), offset)


# Decoding: blobs to values. None means that a blob is laid out in a way that only protobuf's own library reads.


def _decode_batch(columns: Sequence[Column], blobs: pa.BinaryArray, first: int) -> list[pa.Array]:
    found = None if blobs.null_count else _decode_members([column.type for column in columns], Spans.of(blobs))
    return decode_rows(columns, blobs, first) if found is None else found


def _decode_members(data_types: Sequence[DataType], spans: Spans) -> list[pa.Array] | None:
    places, arrays = spans.starts, []
    for data_type in data_types:
        if (datums := wire.read_field(spans, places, _MEMBER)) is None or (datums.ends > spans.ends).any():
            return None
        if (values := decode_datums(data_type, datums)) is None:
            return None
        arrays.append(values)
        places = datums.ends
    return arrays if (places == spans.ends).all() else None


def decode_datums(data_type: DataType, spans: Spans) -> pa.Array | None:
    """Return the value of each datum."""
    null = (spans.byte(0) == _NULL[0]) & (spans.byte(1) == _NULL[1]) & (spans.ends - spans.starts == len(_NULL))
    if not null.any():
        return _decode_present(data_type, spans)
    values = _decode_present(data_type, spans.where(~null))
    return None if values is None else values.take(_places(~null))


def _decode_present(data_type: DataType, spans: Spans) -> pa.Array | None:
    if data_type in _VARINTS:
        return _decode_varints(data_type, spans)
    if data_type in _FIXED:
        return _decode_fixed(data_type, spans)
    found = wire.read_field(spans, spans.starts, _tag(data_type))
    if found is None or (found.ends != spans.ends).any():
        return None
    if data_type.kind in COMPOSITE:
        return _decode_composite(data_type, found)
    return _decode_blobs(data_type, found)


def _decode_varints(data_type: DataType, spans: Spans) -> pa.Array | None:
    tag, dtype = _tag(data_type), np.dtype(_VARINTS[data_type])
    if (
        not wire.has_tag(spans, spans.starts, tag)
        or (found := wire.read_varints(spans, spans.starts + len(tag))) is None
    ):
        return None
    words, ends = found
    if (ends != spans.ends).any():
        return None
    numbers = wire.unzigzag(words) if data_type in _ZIGZAG else words
    if data_type == types.BOOL:
        return None if (words > 1).any() else pa.array(words.astype(np.bool_))
    narrow = numbers.astype(dtype)
    return None if (narrow != numbers).any() else pa.array(narrow)


def _decode_fixed(data_type: DataType, spans: Spans) -> pa.Array | None:
    tag, dtype = _tag(data_type), _FIXED[data_type]
    width = np.dtype(dtype).itemsize
    if not wire.has_tag(spans, spans.starts, tag) or (spans.ends - spans.starts != len(tag) + width).any():
        return None
    numbers = spans.words(spans.starts + len(tag), dtype)
    if data_type in LIMITS and not ((numbers >= LIMITS[data_type][0]) & (numbers < LIMITS[data_type][1])).all():
        return None
    return pa.array(numbers).view(to_arrow(data_type))


def _decode_blobs(data_type: DataType, spans: Spans) -> pa.Array | None:
    if data_type in SIZES and (spans.ends - spans.starts != SIZES[data_type]).any():
        return None
    blobs = spans.blobs()
    try:
        if data_type == types.NUMERIC:
            texts = blobs.cast(pa.string())
            if not pc.all(pc.match_substring_regex(texts, NUMERIC_TEXT)).as_py() and len(texts):
                return None
            lossy = pc.add(texts.cast(pa.float64()), 0.0)  # a tiny negative is no -0
            return pa.StructArray.from_arrays([lossy, texts], fields=list(to_arrow(data_type)))
        return blobs.cast(pa.binary()).cast(to_arrow(data_type))
    except pa.ArrowInvalid:
        return None


def _decode_composite(data_type: DataType, spans: Spans) -> pa.Array | None:
    stored, arrow_type = made_of(data_type), to_arrow(data_type)
    if stored.kind == "record":
        fields = _decode_members([part for _, part in stored.parts], spans)
        return None if fields is None else pa.StructArray.from_arrays(fields, fields=list(arrow_type))
    if (found := wire.read_repeated(spans, _MEMBER)) is None:
        return None
    counts, members = found
    values = decode_datums(stored.inner, members)
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return None if values is None else pa.ListArray.from_arrays(pa.array(offsets), values, type=arrow_type)
