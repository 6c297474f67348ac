from dataclasses import replace
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from instar.catalog.part_set import PartSet
from instar.catalog.snapshot import TableState
from instar.maintain.rewrite import parts_to_compact
from instar.model.part import PART_FIELDS
from instar.model.settings import TableSettings
from tests.parts.samples import weather

SCHEMA = replace(weather(), settings=TableSettings(part_bytes=1_000, part_rows=100))


def state(*parts: dict[str, Any]) -> TableState:
    fixed: dict[str, Any] = {
        field.name: "" if pa.types.is_string(field.type) else 0 for field in PART_FIELDS if field.name != "has_deletes"
    }
    fixed |= {"format": "structured", "transaction": str(UUID(int=1)), "has_deletes": False, "rows": 10, "bytes": 10}
    rows = [fixed | {"key": str(number)} | part for number, part in enumerate(parts)]
    return TableState(SCHEMA, PartSet(pa.Table.from_pylist(rows, schema=PART_FIELDS)))


@pytest.mark.parametrize(
    ("parts", "compacted"),
    [
        ([{}, {}], [("0", "1")]),
        ([{}], []),
        ([{"format": "dual"}], [("0",)]),
        ([{}, {"rows": 50}], []),  # one is large enough in rows,
        ([{}, {"bytes": 500}], []),  # or in bytes
        ([{"partition": "a"}, {"partition": "b"}], []),
        ([{"partition": "a"}, {"partition": "b"}, {"partition": "a"}], [("0", "1", "2")]),
        ([{"origin": "jan"}, {"origin": "feb"}], []),
    ],
)
def test_an_origin_with_blobs_or_several_small_parts_in_one_partition_is_compacted(
    parts: list[dict[str, Any]], compacted: list[tuple[str, ...]]
) -> None:
    assert [group.keys for group in parts_to_compact(state(*parts))] == compacted
