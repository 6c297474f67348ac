"""Values as a table's types have them, from what users hold; never another value."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from instar.model import types
from instar.model.arrow import in_memory, to_arrow
from instar.model.types import DataType
from instar.model.values import NUMERIC_TEXT, Interval, to_array
from instar.parts.compare import same_values

_NANOS_PER_MICRO = 1_000


def convert(values: pa.ChunkedArray, data_type: DataType) -> pa.ChunkedArray:
    """Return the values as a type's, or raise ArrowInvalid or InvalidValue where any would be another value then.

    Beside what Arrow casts: decimals, integers and texts become numerics, texts become jsonb in its one form, Arrow's
    intervals, maps and extensions become ours.
    """
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    values = in_memory(values, data_type)
    if (special := _SPECIAL.get(data_type)) is not None and not pa.types.is_null(values.type):
        return special(values)
    return _cast(values, to_arrow(data_type))


def _cast(values: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    cast = values.cast(target)
    if (
        values.type == target
        or pa.types.is_null(values.type)
        or pa.types.is_string(target)
        or pa.types.is_binary(target)
    ):
        return cast
    # Arrow calls it safe to make 5 a true, or a long decimal the nearest float.
    if not pc.all(same_values(values, cast.cast(values.type)), min_count=0).as_py():
        raise pa.ArrowInvalid("values would change.")
    return cast


def _to_numeric(values: pa.ChunkedArray) -> pa.ChunkedArray:
    ours = values.type == to_arrow(types.NUMERIC)
    texts = pc.struct_field(values, "actual") if ours else values.cast(pa.string())
    if pc.all(pc.match_substring_regex(texts, NUMERIC_TEXT), min_count=0).as_py():
        lossy = pc.add(texts.cast(pa.float64()), 0.0)
        fields = [lossy.combine_chunks(), texts.combine_chunks()]
        struct = pa.StructArray.from_arrays(fields, fields=list(to_arrow(types.NUMERIC)), mask=fields[1].is_null())
        return pa.chunked_array([struct])
    try:
        return _one_by_one(texts, types.NUMERIC, Decimal)
    except ArithmeticError as error:
        raise pa.ArrowInvalid("there is a text that is no number.") from error


def _to_jsonb(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return _one_by_one(values.cast(pa.string()), types.JSONB, lambda text: text)


def _to_interval(values: pa.ChunkedArray) -> pa.ChunkedArray:
    if values.type != pa.month_day_nano_interval():
        return _cast(values, to_arrow(types.INTERVAL))

    def read(cell: Any) -> Interval:
        micros, rest = divmod(cell.nanoseconds, _NANOS_PER_MICRO)
        if rest:
            raise pa.ArrowInvalid("an interval has nanoseconds.")
        return Interval(cell.months, cell.days, micros)

    return _one_by_one(values, types.INTERVAL, read)


def _to_time(values: pa.ChunkedArray) -> pa.ChunkedArray:
    cast = _cast(values, to_arrow(types.TIME))
    to_array(types.TIME, [value for value in pc.min_max(cast.cast(pa.int64())).as_py().values() if value is not None])
    return cast


def _one_by_one(values: pa.ChunkedArray, data_type: DataType, read: Callable[[Any], Any]) -> pa.ChunkedArray:
    cells = [None if cell is None else read(cell) for cell in values.to_pylist()]
    return pa.chunked_array([to_array(data_type, cells)])


_SPECIAL: dict[DataType, Callable[[pa.ChunkedArray], pa.ChunkedArray]] = {
    types.NUMERIC: _to_numeric,
    types.JSONB: _to_jsonb,
    types.INTERVAL: _to_interval,
    types.TIME: _to_time,
}
