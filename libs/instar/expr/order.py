"""The order of values, as PostgreSQL has it, over whole Arrow columns.

Values become sort keys: tuples of columns whose lexicographic order, by Arrow's own comparison, is the order of the
values. Strings sort by their UTF-8 bytes (collation "C"). A null on either side gives null.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from instar.model.types import BOOL, FLOATS, TIMESTAMP, TIMESTAMP_NS, DataType

Values = Any
"""An Arrow array, chunked array or scalar."""
Keys = tuple[Values, ...]


def sort_keys(left: Values, left_type: DataType, right: Values, right_type: DataType) -> tuple[Keys, Keys]:
    """Return keys for both sides of a comparison, which `less` and `equal` compare."""
    types = {left_type, right_type}
    if types & FLOATS:
        return _float_keys(left, right)
    if types == {TIMESTAMP, TIMESTAMP_NS}:
        return _instant_keys(left, left_type), _instant_keys(right, right_type)
    if types <= {BOOL}:
        return (pc.cast(left, pa.uint8()),), (pc.cast(right, pa.uint8()),)
    return (left,), (right,)


def less(left: Keys, right: Keys) -> Values:
    """Return whether left sorts before right."""
    result = pc.less(left[-1], right[-1])
    for a, b in zip(left[-2::-1], right[-2::-1], strict=True):
        result = pc.or_(pc.less(a, b), pc.and_(pc.equal(a, b), result))
    return result


def equal(left: Keys, right: Keys) -> Values:
    """Return whether left and right are the same value."""
    result = pc.equal(left[0], right[0])
    for a, b in zip(left[1:], right[1:], strict=True):
        result = pc.and_(result, pc.equal(a, b))
    return result


def _float_keys(left: Values, right: Values) -> tuple[Keys, Keys]:
    # An unsafe cast rounds to nearest, as PostgreSQL's int8 to float8 does.
    left, right = (pc.cast(side, pa.float64(), safe=False) for side in (left, right))
    left_nan, right_nan = pc.is_nan(left), pc.is_nan(right)
    if not (_any(left_nan) or _any(right_nan)):
        return (left,), (right,)
    # Arrow orders NaN against nothing; a flag in front makes it greatest, and equal to itself.
    return _nan_last(left, left_nan), _nan_last(right, right_nan)


def _nan_last(values: Values, nan: Values) -> Keys:
    return pc.cast(nan, pa.uint8()), pc.if_else(nan, 0.0, values)


def _any(flags: Values) -> bool:
    return bool(flags.as_py() if isinstance(flags, pa.Scalar) else pc.any(flags).as_py())


def _instant_keys(values: Values, data_type: DataType) -> Keys:
    """Return microseconds and the nanoseconds beyond them.

    Multiplying microseconds would overflow. Division truncates towards zero, so the rest has the sign of the value;
    against a side whose rest is always 0 the pair still sorts right.
    """
    count = pc.cast(values, pa.int64())
    if data_type == TIMESTAMP:
        return count, pa.scalar(0, pa.int64())
    micros = pc.divide(count, 1000)
    return micros, pc.subtract(count, pc.multiply(micros, 1000))
