"""What a part knows of a JSON column: which kinds of values there are, at its top and under each key of objects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from instar.model.part import JSON_KINDS, Statistic
from instar.model.values import parse_json
from instar.parts.bounds import bounds_of

MOST_KEYS = 64
"""Of objects at one place with more different keys, as where keys are ids, no key has statistics."""
MOST_DEPTH = 4


@dataclass
class _Place:
    """All that was seen at one path."""

    count: int = 0
    kinds: int = 0
    numbers: list[float] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    keys: "dict[str, _Place]" = field(default_factory=dict)


def json_statistics(values: pa.Array) -> dict[tuple[str, ...], Mapping[Statistic, pa.Scalar]]:
    """Return what is known at each path of JSON texts.

    Under a key, `nulls` counts the rows without it: its own null is a value, of a kind.
    """
    top = _Place()
    for text in values.drop_null().to_pylist():
        _see(top, parse_json(text), 0)
    return dict(_statistics(top, (), len(values)))


def _see(place: _Place, value: Any, depth: int) -> None:
    place.count += 1
    kind = _kind(value)
    place.kinds |= JSON_KINDS[kind]
    match kind:
        case "number":
            place.numbers.append(float(value) + 0.0)
        case "string":
            place.strings.append(value)
        case "object" if depth < MOST_DEPTH:
            for key, item in value.items():
                if len(place.keys) <= MOST_KEYS:
                    _see(place.keys.setdefault(key, _Place()), item, depth + 1)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"


def _statistics(
    place: _Place, path: tuple[str, ...], rows: int
) -> list[tuple[tuple[str, ...], Mapping[Statistic, pa.Scalar]]]:
    known: dict[Statistic, pa.Scalar] = {
        "nulls": pa.scalar(rows - place.count),
        "kinds": pa.scalar(place.kinds, pa.int8()),
    }
    if place.numbers:
        known["lower_number"], known["upper_number"] = bounds_of(pa.array(place.numbers, pa.float64()))
    if place.strings:
        known["lower_string"], known["upper_string"] = bounds_of(pa.array(place.strings, pa.string()))
    found: list[tuple[tuple[str, ...], Mapping[Statistic, pa.Scalar]]] = [(path, known)]
    if len(place.keys) <= MOST_KEYS:
        for key in sorted(place.keys):
            found += _statistics(place.keys[key], (*path, key), rows)
    return found
