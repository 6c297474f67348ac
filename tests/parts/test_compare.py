from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.demo.faulty_encoder import dual_part_with_wrong_value, lying_dual_part
from instar.model.part import PartFormat
from instar.model.schema import D_COLUMN, T_COLUMN, TableSchema
from instar.parts.compare import MOST_REPORTED, Difference, NothingToCompare, compare_encodings
from instar.parts.writer import write_part
from tests.parts.samples import provenance, stored, stored_sample, updates, weather
from tests.strategies import schemas, update_tables


@given(st.data(), schemas())
def test_honest_encodings_never_differ(data: st.DataObject, schema: TableSchema) -> None:
    written = data.draw(update_tables(schema))
    part = write_part(written, schema, PartFormat.DUAL, provenance(schema), row_group_rows=3)
    found = compare_encodings(stored(part), part.key, schema)
    assert (found.rows, found.count, found.differences, found.truncated) == (written.num_rows, 0, (), False)


@pytest.mark.parametrize("upsert", [False, True])
@pytest.mark.parametrize(
    ("column", "value", "truth", "lie"),
    [
        ("degrees", 99.5, "0.5", "99.5"),
        ("degrees", None, "0.5", None),
        ("note", "", "note 1", ""),
        ("station", "x", "s1", "x"),
    ],
)
def test_one_wrong_value_is_found_and_named(upsert: bool, column: str, value: Any, truth: Any, lie: Any) -> None:
    schema = weather(upsert=upsert)
    rows = updates(schema, 3)
    part = dual_part_with_wrong_value(rows, schema, provenance(schema), row=1, column=column, value=value)
    found = compare_encodings(stored(part), part.key, schema)
    assert found.differences == (Difference(part.key, 1, column, truth, lie),)
    assert (found.rows, found.count, found.truncated) == (3, 1, False)


def single(type_name: str, truth: Any, lie: Any) -> list[tuple[int, str | None, str | None]]:
    schema = TableSchema.create("a.b", {"x": type_name}, ids=lambda: 1)
    cells = pa.array([truth, truth], schema.arrow_schema().field("x").type)
    rows = pa.table({"x": cells, T_COLUMN: [1, 1], D_COLUMN: [1, 1]})
    part = dual_part_with_wrong_value(rows, schema, provenance(schema), row=1, column="x", value=lie)
    found = compare_encodings(stored(part), part.key, schema)
    return [(d.row, d.codec_value, d.structured_value) for d in found.differences]


@pytest.mark.parametrize(
    ("type_name", "truth", "lie", "texts"),
    [
        ("bool", True, False, ("true", "false")),
        ("int64", 2**63 - 1, -(2**63), ("9223372036854775807", "-9223372036854775808")),
        ("float64", float("nan"), 1.0, ("nan", "1.0")),
        ("float64", float("nan"), None, ("nan", None)),
        ("float64", None, float("nan"), (None, "nan")),
        ("string", "null", None, ("null", None)),
        ("bytes", b"\xff", b"", ("ff", "")),
        ("timestamp", 1, 2, ("1970-01-01 00:00:00.000001", "1970-01-01 00:00:00.000002")),
        ("timestamp_ns", 1, None, ("1970-01-01 00:00:00.000000001", None)),
    ],
)
def test_values_of_every_type_are_told_apart_and_shown(
    type_name: str, truth: Any, lie: Any, texts: tuple[str | None, ...]
) -> None:
    assert single(type_name, truth, lie) == [(1, *texts)]


@pytest.mark.parametrize(("truth", "lie"), [(0.0, -0.0), (-0.0, 0.0)])
def test_zeros_of_either_sign_are_one_value(truth: Any, lie: Any) -> None:
    assert single("float64", truth, lie) == []


def test_many_differences_are_all_counted_and_some_reported() -> None:
    schema = weather()
    size = MOST_REPORTED + 50
    rows = updates(schema, size)
    other = rows.set_column(3, "note", pa.array(["wrong"] * size))
    part = lying_dual_part(rows, other, schema, provenance(schema))
    found = compare_encodings(stored(part), part.key, schema)
    assert (found.count, len(found.differences), found.truncated) == (size, MOST_REPORTED, True)
    assert [difference.row for difference in found.differences] == list(range(MOST_REPORTED))


@pytest.mark.parametrize("format", [PartFormat.CODEC, PartFormat.STRUCTURED])
def test_a_part_with_one_encoding_can_not_pass_for_compared(format: PartFormat) -> None:
    store, part, schema = stored_sample(format)
    with pytest.raises(NothingToCompare, match=part.key):
        compare_encodings(store, part.key, schema)
