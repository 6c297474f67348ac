"""The example of a user's own codec works as its README says."""

import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.codec.protocol import Codec, CodecError
from instar.codec.registry import codec_named
from instar.model.schema import Column, ColumnId, TableSchema
from instar.model.types import BOOL, INT64, STRING
from tests.strategies import exact_rows, schemas, update_tables

EXAMPLE = Path(__file__).parents[2] / "examples" / "codec_plugin"
NAME = Column(ColumnId(1), "name", STRING)
AGE = Column(ColumnId(2), "age", INT64)


@pytest.fixture(scope="module")
def codec(tmp_path_factory: pytest.TempPathFactory) -> Codec:
    """Return the example's codec, found as an installed package's would be."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    site = tmp_path_factory.mktemp("site")
    folder = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    (group, entries), *_ = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (folder / "entry_points.txt").write_text("\n".join([*lines, ""]))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        patch.syspath_prepend(EXAMPLE)
        return codec_named(next(iter(entries)))


def blobs(*rows: bytes | None) -> pa.Array:
    return pa.array(rows, pa.binary())


@given(st.data(), schemas(st.sampled_from([STRING, INT64])))
def test_every_table_decodes_to_what_was_encoded(codec: Codec, data: st.DataObject, schema: TableSchema) -> None:
    updates = data.draw(update_tables(schema))
    decoded = codec.decode(schema.columns, codec.encode(schema.columns, updates))
    assert decoded.schema.equals(schema.arrow_schema(), check_metadata=True)
    assert exact_rows(decoded) == exact_rows(updates.select(schema.arrow_schema().names))


def test_rows_are_text(codec: Codec) -> None:
    rows = pa.table({"name": ["a\tb\\", None], "age": pa.array([-1, None], pa.int64())})
    assert codec.encode([NAME, AGE], rows).to_pylist() == [b"a\\tb\\\\\t-1", b"\\N\t\\N"]


def test_no_columns_make_empty_blobs(codec: Codec) -> None:
    encoded = codec.encode([], pa.table({"name": ["a", "b"]}))
    assert encoded.to_pylist() == [b"", b""]
    assert codec.decode([], encoded).column_names == []


@pytest.mark.parametrize(
    ("blob", "fact"),
    [
        (b"a", "Row 1 holds 1 values for 2 columns"),
        (b"a\t1\t2", "Row 1 holds 3 values for 2 columns"),
        (b"a\tb", "Row 1 holds 'b' for column 'age'"),
        (b"a\t9223372036854775808", "column 'age'"),
        (b"\\x\t1", "column 'name'"),
        (b"\xff\t1", "Row 1 is no text"),
        (None, "Row 1 has no blob"),
    ],
)
def test_what_does_not_fit_names_the_row_and_the_column(codec: Codec, blob: bytes | None, fact: str) -> None:
    with pytest.raises(CodecError, match=fact):
        codec.decode([NAME, AGE], blobs(b"a\t1", blob))


def test_other_types_are_refused(codec: Codec) -> None:
    with pytest.raises(CodecError, match="'x' is bool"):
        codec.encode([Column(ColumnId(1), "x", BOOL)], pa.table({"x": [True]}))
    with pytest.raises(CodecError, match="'age' is int64, but its values are string"):
        codec.encode([AGE], pa.table({"age": ["1"]}))
