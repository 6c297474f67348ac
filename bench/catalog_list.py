"""The part list that all contenders hold: the same paths, sizes and statistics for the same count. Plain pyarrow."""

import numpy as np
import pyarrow as pa

COLUMNS = 20
NUMBERS = 14  # the others are texts
SPAN = 1_000


def part_list(count: int) -> pa.Table:
    """Return a row per part: path, bytes, rows, and for each column lower, upper and nulls."""
    random = np.random.default_rng(7)
    arrays: dict[str, pa.Array] = {
        "path": pa.array([f"part-{number:08d}.parquet" for number in range(count)]),
        "bytes": pa.array(random.integers(1_000_000, 100_000_000, count)),
        "rows": pa.array(np.full(count, 100_000)),
    }
    for column in range(COLUMNS):
        lower = np.arange(count) * SPAN if column == 0 else random.integers(0, 1_000_000, count)
        upper = lower + (SPAN - 1 if column == 0 else random.integers(0, 1_000, count))
        if column < NUMBERS:
            arrays[f"c{column}.lower"], arrays[f"c{column}.upper"] = pa.array(lower), pa.array(upper)
        else:
            arrays[f"c{column}.lower"] = pa.array([f"text {number:012d}" for number in lower])
            arrays[f"c{column}.upper"] = pa.array([f"text {number:012d}" for number in upper])
        arrays[f"c{column}.nulls"] = pa.array(random.integers(0, 5, count))
    return pa.table(arrays)


def column_types() -> dict[str, str]:
    return {f"c{column}": "int64" if column < NUMBERS else "string" for column in range(COLUMNS)}


def asked_range(count: int) -> tuple[int, int]:
    """Return the bounds of c0 that a question names: about a hundredth of the parts hold such rows."""
    return count // 2 * SPAN, (count // 2 + max(count // 100, 1)) * SPAN
