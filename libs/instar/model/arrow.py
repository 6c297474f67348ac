"""How values of each type lie in Arrow, and in files.

In memory every type has one plain Arrow type, so that compute works on it. In files, columns of types that Arrow does
not have carry an extension name, `instar.<version>.<type>`; uuid and jsonb are Arrow's own extensions, at the top level
only, for pandas can't open them inside lists, nor bytes of a fixed size, which are plain bytes there.
"""

import functools

import pyarrow as pa
import pyarrow.compute as pc

from instar.model import types
from instar.model.types import DataType, UnsupportedType, list_of, record_of

ENCODING_VERSION = 1
OPAQUE_VERSION = 0
"""Any type as a row of the `row` codec with one datum: what a type has before it has an encoding of its own."""
EXTENSION_KEY = b"ARROW:extension:name"

NUMERIC = pa.struct([pa.field("lossy", pa.float64()), pa.field("actual", pa.string())])
"""The nearest float, infinite where out of range, and the exact decimal as text without trailing zeros."""
INTERVAL_BYTES, UUID_BYTES = 16, 16

_SCALARS: dict[DataType, pa.DataType] = {
    types.BOOL: pa.bool_(),
    types.INT16: pa.int16(),
    types.INT32: pa.int32(),
    types.INT64: pa.int64(),
    types.UINT16: pa.uint16(),
    types.UINT32: pa.uint32(),
    types.UINT64: pa.uint64(),
    types.FLOAT32: pa.float32(),
    types.FLOAT64: pa.float64(),
    types.STRING: pa.string(),
    types.BYTES: pa.binary(),
    types.NUMERIC: NUMERIC,
    types.DATE: pa.date32(),
    types.TIME: pa.time64("us"),
    types.TIMESTAMP: pa.timestamp("us"),
    types.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    types.TIMESTAMP_NS: pa.timestamp("ns"),
    types.INTERVAL: pa.binary(INTERVAL_BYTES),
    types.JSONB: pa.string(),
    types.UUID: pa.binary(UUID_BYTES),
    types.MZ_TIMESTAMP: pa.uint64(),
}
_ACL_ROLES = {types.MZ_ACLITEM: types.STRING, types.ACLITEM: types.UINT32}
_NOT_ARROWS_OWN = frozenset(
    {types.NUMERIC, types.INTERVAL, types.MZ_TIMESTAMP, types.MZ_ACLITEM, types.ACLITEM, types.INT2VECTOR}
)
_CANONICAL = {types.UUID: pa.uuid(), types.JSONB: pa.json_(pa.string())}


@functools.cache
def made_of(data_type: DataType) -> DataType:
    """Return the list or record that a composite type's values are stored as; other types are their own."""
    match data_type.kind:
        case "int2vector":
            return list_of(types.INT16)
        case "map":
            return list_of(record_of(key=types.STRING, value=data_type.inner))
        case "array":
            dimension = record_of(lower_bound=types.INT64, length=types.UINT64)
            return record_of(elements=list_of(data_type.inner), dimensions=list_of(dimension))
        case "range":
            bound = record_of(inclusive=types.BOOL, bound=data_type.inner)
            return record_of(lower=bound, upper=bound, empty=types.BOOL)
        case "mz_aclitem" | "aclitem":
            role = _ACL_ROLES[data_type]
            return record_of(grantee=role, grantor=role, acl_mode=types.UINT64)
        case _:
            return data_type


@functools.cache
def to_arrow(data_type: DataType) -> pa.DataType:
    """Return the Arrow type of a type's values in memory."""
    if data_type in _SCALARS:
        return _SCALARS[data_type]
    stored = made_of(data_type)
    if stored.kind == "list":
        return pa.list_(to_arrow(stored.inner))
    return pa.struct([pa.field(name, to_arrow(part)) for name, part in stored.parts])


def from_arrow(arrow_type: pa.DataType) -> DataType:
    """Return the type whose values `arrow_type` holds without loss, where it is plain which one that is."""
    for data_type, candidate in _SCALARS.items():
        if candidate == arrow_type and data_type not in (_NOT_ARROWS_OWN | _CANONICAL.keys()):
            return data_type
    for data_type, candidate in _CANONICAL.items():
        if candidate == arrow_type:
            return data_type
    if pa.types.is_list(arrow_type):
        return list_of(from_arrow(arrow_type.value_type))
    if pa.types.is_map(arrow_type) and arrow_type.key_type == pa.string():
        return types.map_of(from_arrow(arrow_type.item_type))
    if pa.types.is_struct(arrow_type) and arrow_type.num_fields:
        return record_of(**{field.name: from_arrow(field.type) for field in arrow_type})
    plain = ", ".join(str(t) for d, t in _SCALARS.items() if d not in _NOT_ARROWS_OWN)
    raise UnsupportedType(f"Arrow's {arrow_type} has no counterpart here.", help=f"Cast it to one of: {plain}.")


def bound_type(data_type: DataType) -> pa.DataType | None:
    """Return the Arrow type of bounds on values of a type: one that sorts as the values do, if there is one.

    A numeric's is its nearest float: of two numerics the smaller never has the greater one.
    """
    if data_type == types.NUMERIC:
        return pa.float64()
    return to_arrow(data_type) if types.can_be_key(data_type) else None


def extension_name(data_type: DataType, version: int = ENCODING_VERSION) -> str | None:
    """Return the extension name of a type's columns in files; None where Arrow's type says it all."""
    if version == OPAQUE_VERSION or data_type in _NOT_ARROWS_OWN or data_type.kind in ("array", "range"):
        return f"instar.{version}.{data_type.kind}"
    return None


def encoding_version(field: pa.Field) -> int:
    """Return the version of the encoding of a column in a file, as its extension name says."""
    name = (field.metadata or {}).get(EXTENSION_KEY, b"").decode()
    match name.split("."):
        case ["instar", version, _] if version.isdecimal():
            return int(version)
        case _:
            return ENCODING_VERSION


def in_file(values: pa.ChunkedArray, data_type: DataType) -> pa.ChunkedArray:
    """Return a column as files have it: uuid and jsonb as Arrow's extensions, maps as Arrow's maps, bytes plain."""
    if (extension := _CANONICAL.get(data_type)) is not None:
        return pa.chunked_array([pa.ExtensionArray.from_storage(extension, c) for c in values.chunks], extension)
    if data_type.parts and (plain := _without_sizes(values.type)) != values.type:
        values = values.cast(plain)
    if data_type.kind == "map":
        entries = values.type.value_type
        map_type = pa.map_(pa.string(), entries.field("value").type, keys_sorted=True)
        return pa.chunked_array([_to_map(chunk) for chunk in values.chunks], map_type)
    return values


def in_memory(values: pa.ChunkedArray, data_type: DataType) -> pa.ChunkedArray:
    """Return a column of a file as it is in memory."""
    if isinstance(values.type, pa.BaseExtensionType):
        return pa.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
    of_file = pa.types.is_map(values.type) or (data_type.parts and values.type == _without_sizes(to_arrow(data_type)))
    return values.cast(to_arrow(data_type)) if of_file else values


def _without_sizes(arrow_type: pa.DataType) -> pa.DataType:
    """Return a nested type with plain bytes in place of bytes of a fixed size."""
    if pa.types.is_list(arrow_type):
        return pa.list_(_without_sizes(arrow_type.value_type))
    if pa.types.is_struct(arrow_type):
        return pa.struct([field.with_type(_without_sizes(field.type)) for field in arrow_type])
    return pa.binary() if pa.types.is_fixed_size_binary(arrow_type) else arrow_type


def _to_map(lists: pa.ListArray) -> pa.MapArray:
    entries = lists.flatten()
    lengths = lists.value_lengths()
    ends = pc.cumulative_sum(pc.fill_null(lengths, 0))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    # An offset that is null makes the map that begins there null.
    starts = pc.if_else(pa.concat_arrays([lists.is_valid(), pa.array([True])]), offsets, None)
    fields = entries.field("key"), entries.field("value")
    return pa.MapArray.from_arrays(starts, *fields, type=pa.map_(pa.string(), fields[1].type, keys_sorted=True))
