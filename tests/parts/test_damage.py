"""A damaged file is an error that names it, or reads as it was written: never as another value."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.protocol import CodecError
from instar.codec.registry import codec_named
from instar.errors import InstarError
from instar.model.part import PartFormat
from instar.model.schema import TableSchema
from instar.parts.reader import ReadFormat, UnreadablePart, read_footer, read_part
from instar.parts.writer import write_part
from instar.storage.memory import MemoryStore
from tests.parts.samples import provenance, stored, updates, weather
from tests.strategies import exact_rows, schemas, update_tables

each_way = pytest.mark.parametrize(
    ("format", "read_format"),
    [
        (PartFormat.CODEC, "codec"),
        (PartFormat.DUAL, "codec"),
        (PartFormat.DUAL, "structured"),
        (PartFormat.STRUCTURED, "structured"),
    ],
)


@each_way
def test_no_flipped_byte_of_a_file_changes_a_value(format: PartFormat, read_format: ReadFormat) -> None:
    schema = weather(upsert=True)
    part = write_part(updates(schema, 40), schema, format, provenance(schema), row_group_rows=16)
    whole = exact_rows(read_part(stored(part), part.key, schema, read_format=read_format))
    footer = read_footer(stored(part), part.key)
    refused = 0
    for place in range(len(part.data)):
        damaged = bytearray(part.data)
        damaged[place] ^= 1 << place % 8
        store = MemoryStore()
        store.put(part.key, bytes(damaged))
        try:
            assert read_footer(store, part.key) == footer
            assert exact_rows(read_part(store, part.key, schema, read_format=read_format)) == whole
        except InstarError as error:
            assert part.key in str(error)  # noqa: PT017  # what is raised depends on the place
            refused += 1
    assert refused > len(part.data) // 2


@each_way
def test_a_file_cut_anywhere_is_refused(format: PartFormat, read_format: ReadFormat) -> None:
    schema = weather()
    part = write_part(updates(schema, 40), schema, format, provenance(schema))
    for size in itertools.chain(range(0, len(part.data), 7), [len(part.data) - 1]):
        store = MemoryStore()
        store.put(part.key, part.data[:size])
        with pytest.raises(UnreadablePart, match=part.key):
            read_part(store, part.key, schema, read_format=read_format)


@given(st.data(), schemas(), st.sampled_from(["row", "json"]))
def test_a_flipped_byte_of_a_blob_is_an_error_or_another_row_of_the_table(
    data: st.DataObject, schema: TableSchema, name: str
) -> None:
    rows = data.draw(update_tables(schema, max_size=3))
    codec = codec_named(name)
    blobs = codec.encode(schema.columns, rows).to_pylist()
    number = data.draw(st.integers(0, len(blobs) - 1))
    if blobs[number]:
        blob = bytearray(blobs[number])
        blob[data.draw(st.integers(0, len(blob) - 1))] ^= data.draw(st.integers(1, 255))
        blobs[number] = bytes(blob)
    try:
        found = codec.decode(schema.columns, pa.array(blobs, pa.binary()))
    except CodecError:
        return
    found.validate(full=True)
    again = codec.encode(schema.columns, found)
    assert exact_rows(codec.decode(schema.columns, again)) == exact_rows(found)
