import pyarrow as pa

from instar.model.part import PART_FIELDS, PartFormat, statistics_field
from instar.model.schema import ColumnId
from instar.model.types import STRING


def test_statistics_are_named_by_column_id_and_typed_by_what_they_say() -> None:
    found = {s: statistics_field(ColumnId(7), s, STRING) for s in ("lower", "upper", "nulls", "nan")}
    assert {s: (f.name, f.type) for s, f in found.items()} == {
        "lower": ("7.lower", pa.string()),
        "upper": ("7.upper", pa.string()),
        "nulls": ("7.nulls", pa.int64()),
        "nan": ("7.nan", pa.bool_()),
    }
    assert all(field.nullable for field in found.values())


def test_fixed_fields_of_a_part_are_always_known() -> None:
    assert not any(field.nullable for field in PART_FIELDS)


def test_formats_are_written_by_their_names() -> None:
    assert [PartFormat(name) for name in ("codec", "dual", "structured")] == list(PartFormat)
