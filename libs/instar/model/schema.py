"""Tables and their columns."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, NewType

import numpy as np
import pyarrow as pa

from instar.clock import IdSource
from instar.errors import InstarError
from instar.model.arrow import ENCODING_VERSION, OPAQUE_VERSION, to_arrow
from instar.model.json_forms import read_value, write_value
from instar.model.settings import TableSettings
from instar.model.types import DATE, TIMESTAMP, TIMESTAMP_NS, TIMESTAMPTZ, DataType, can_be_key, parse_type
from instar.model.values import InvalidValue, to_array

ColumnId = NewType("ColumnId", int)

RESERVED_PREFIX = "_instar_"
T_COLUMN = "_instar_t"
"""The logical time of an update, int64, given by the source."""
D_COLUMN = "_instar_d"
"""The diff of an update, int64: 1 adds, -1 deletes."""
UPDATE_FIELDS = (pa.field(T_COLUMN, pa.int64(), nullable=False), pa.field(D_COLUMN, pa.int64(), nullable=False))
FIELD_ID_KEY = b"PARQUET:field_id"
LAST_ID = 2**31 - 1
"""Parquet's field ids are 32-bit integers."""
_CALENDAR = frozenset({DATE, TIMESTAMP, TIMESTAMPTZ, TIMESTAMP_NS})


class InvalidSchema(InstarError):
    """A table definition that can't be stored."""


class UnknownColumn(InstarError):
    """A column name that the table does not have."""


class MergeMode(enum.StrEnum):
    """What the updates of a table mean."""

    APPEND = "append"
    UPSERT = "upsert"


@dataclass(frozen=True, order=True)
class TableName:
    """The name of a table, which text holds without loss: a database has no dot in its name."""

    database: str
    table: str

    def __post_init__(self) -> None:
        if not (self.database and self.table) or "." in self.database:
            raise InvalidSchema(
                f"{str(self)!r} is not the name of a table.", help="Write database.table, with no dot in the database."
            )

    @classmethod
    def parse(cls, text: str) -> "TableName":
        """Split `database.table` at its first dot."""
        database, _, table = text.partition(".")
        return cls(database, table)

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


@dataclass(frozen=True)
class Column:
    """A column. The id outlives the name: it is the Parquet field id and the key of statistics."""

    id: ColumnId
    name: str
    type: DataType
    nullable: bool = True
    encoding: int = ENCODING_VERSION
    """The version of its type's encoding in new files; old files say their own."""
    initial_default: str | None = None
    """What rows show that were written before the column was there, as `model.json_forms` writes it. Never changes."""
    write_default: str | None = None
    """What later rows get that come without the column."""

    def __post_init__(self) -> None:
        for default in (self.initial_default, self.write_default):
            if default is not None:
                self._read(default)
        if self.encoding not in (OPAQUE_VERSION, ENCODING_VERSION):
            raise InvalidSchema(
                f"Column {self.name!r} has encoding {self.encoding}.", help="A newer release may know it; use 1, or 0."
            )

    def with_default(self, value: Any) -> "Column":
        """Return the column with another default for rows to come; None is none."""
        try:
            text = None if value is None else write_value(self.type, value)
        except InvalidValue as error:
            raise self._bad_default(error) from error
        return replace(self, write_default=text)

    def repeat(self, default: str | None, count: int) -> pa.Array:
        """Return a default, or null, `count` times."""
        value = None if default is None else self._read(default)
        return to_array(self.type, [value]).take(pa.array(np.zeros(count, np.int64)))

    def _read(self, default: str) -> Any:
        try:
            return read_value(self.type, default)
        except InvalidValue as error:
            raise self._bad_default(error) from error

    def _bad_default(self, error: InvalidValue) -> InvalidSchema:
        return InvalidSchema(f"The default of {self.name!r} does not fit: {error.fact}", help=f"It is {self.type}.")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "type": str(self.type)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Column":
        return cls(**{**value, "id": ColumnId(value["id"]), "type": parse_type(value["type"])})

    def arrow_field(self) -> pa.Field:
        return pa.field(self.name, to_arrow(self.type), self.nullable, {FIELD_ID_KEY: str(self.id).encode()})


class PartitionUnit(enum.StrEnum):
    """How fine a partition is."""

    VALUE = "value"
    HOUR = "hour"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True)
class Partition:
    """Rows with different values of a column, or in different units of its time, are never in one part."""

    column: ColumnId
    unit: PartitionUnit = PartitionUnit.VALUE

    def to_json(self) -> list[Any]:
        return [self.column, self.unit.value]


@dataclass(frozen=True)
class TableSchema:
    """A table: its columns in order, its key, what its updates mean and how its parts are split and sorted."""

    name: TableName
    columns: tuple[Column, ...]
    key: tuple[ColumnId, ...] = ()
    merge_mode: MergeMode = MergeMode.APPEND
    sort_by: tuple[ColumnId, ...] = ()
    partition_by: tuple[Partition, ...] = ()
    lookup: tuple[ColumnId, ...] = ()
    """Columns that are asked for single values: parts keep a bloom filter of them."""
    keep_statistics: tuple[ColumnId, ...] = ()
    """Columns whose statistics are kept however many bytes they take. Those of the key always are."""
    dropped: tuple[ColumnId, ...] = ()
    """Ids of columns that were dropped; files may hold values under them."""
    settings: TableSettings = field(default_factory=TableSettings)

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_ids("key", self.key)
        self._check_ids("sort_by", self.sort_by)
        self._check_ids("lookup", self.lookup)
        self._check_ids("keep_statistics", self.keep_statistics, sortable=False)
        self._check_ids("partition_by", tuple(of.column for of in self.partition_by))
        for of in self.partition_by:
            if of.unit is not PartitionUnit.VALUE and self.column_by_id(of.column).type not in _CALENDAR:
                column = self.column_by_id(of.column)
                raise InvalidSchema(
                    f"{self.name} can't be split by the {of.unit} of {column.name!r}, which is {column.type}.",
                    help="Only dates and timestamps have one.",
                )
        if reused := set(self.dropped) & {column.id for column in self.columns}:
            raise InvalidSchema(
                f"{self.name} uses the id {min(reused)} of a dropped column again.", help="Draw another."
            )
        if (self.merge_mode is MergeMode.UPSERT) != bool(self.key):
            raise InvalidSchema(
                f"{self.name} is {self.merge_mode} with {len(self.key)} key columns.",
                help="An upsert table needs a key; an append table has none.",
            )

    def _check_columns(self) -> None:
        if not self.columns:
            raise InvalidSchema(f"{self.name} has no column.", help="Name at least one.")
        names: set[str] = set()
        ids: set[ColumnId] = set()
        for column in self.columns:
            if not column.name or column.name.lower().startswith(RESERVED_PREFIX):
                raise InvalidSchema(f"{column.name!r} can't name a column.", help=f"{RESERVED_PREFIX} is reserved.")
            if column.name.lower() in names:
                raise InvalidSchema(f"Two columns are called {column.name!r}.", help="Names are unique ignoring case.")
            if not 1 <= column.id <= LAST_ID:
                raise InvalidSchema(
                    f"Column {column.name!r} of {self.name} has the id {column.id}.",
                    help=f"Ids are from 1 to {LAST_ID}.",
                )
            if column.id in ids:
                raise InvalidSchema(f"Two columns of {self.name} share an id.", help="Draw each id once.")
            names.add(column.name.lower())
            ids.add(column.id)

    def _check_ids(self, role: str, named: tuple[ColumnId, ...], *, sortable: bool = True) -> None:
        """Check that `named` are columns of this table, each once."""
        if unknown := set(named) - {column.id for column in self.columns}:
            raise InvalidSchema(
                f"{self.name} has no column with id {min(unknown)}.", help=f"Its {role} names its own columns."
            )
        if unfit := [c for c in map(self.column_by_id, named) if sortable and not can_be_key(c.type)]:
            raise InvalidSchema(
                f"The {role} of {self.name} names {unfit[0].name!r}, which is {unfit[0].type}.",
                help="Rows can't be sorted by such values: name columns of numbers, texts, bytes, times or uuids.",
            )
        if twice := [number for place, number in enumerate(named) if number in named[:place]]:
            name = self.column_by_id(twice[0]).name
            raise InvalidSchema(f"The {role} of {self.name} names column {name!r} twice.", help="Name each once.")

    @classmethod
    def create(
        cls,
        name: str,
        columns: Mapping[str, str],
        *,
        ids: IdSource,
        key: Sequence[str] = (),
        merge_mode: MergeMode | str = MergeMode.APPEND,
        sort_by: Sequence[str] = (),
        required: Iterable[str] = (),
        defaults: Mapping[str, Any] = MappingProxyType({}),
        partition_by: Mapping[str, PartitionUnit | str] = MappingProxyType({}),
        lookup: Sequence[str] = (),
        keep_statistics: Sequence[str] = (),
        settings: TableSettings | None = None,
    ) -> "TableSchema":
        """Define a new table from column names and type names, drawing an id for each column.

        Key columns and those in `required` are not nullable. `sort_by` is the key unless given. `defaults` are values
        as `model.values` has them; `partition_by` has a unit for each column.
        """
        drawn: set[int] = set()
        while len(drawn) < len(columns):
            drawn.add(ids())
        not_null = set(required) | set(key)
        built = tuple(
            Column(ColumnId(number), column, parse_type(type_name), column not in not_null).with_default(
                defaults.get(column)
            )
            for number, (column, type_name) in zip(sorted(drawn), columns.items(), strict=True)
        )
        by_name = {column.name: column.id for column in built}

        def resolve(names: Iterable[str]) -> tuple[ColumnId, ...]:
            if missing := [n for n in names if n not in by_name]:
                raise InvalidSchema(f"{name} has no column {missing[0]!r}.", help=f"It has: {', '.join(by_name)}.")
            return tuple(by_name[n] for n in names)

        resolve([*required, *defaults])
        units = map(PartitionUnit, partition_by.values())
        return cls(
            TableName.parse(name),
            built,
            resolve(key),
            MergeMode(merge_mode),
            resolve(sort_by) or resolve(key),
            tuple(map(Partition, resolve(partition_by), units)),
            resolve(lookup),
            resolve(keep_statistics),
            settings=settings or TableSettings(),
        )

    def column(self, name: str) -> Column:
        """Return the column called `name`, ignoring case."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        raise UnknownColumn(
            f"{self.name} has no column {name!r}.", help=f"It has: {', '.join(c.name for c in self.columns)}."
        )

    def column_by_id(self, column_id: ColumnId) -> Column:
        return next(column for column in self.columns if column.id == column_id)

    @property
    def key_columns(self) -> tuple[Column, ...]:
        return tuple(self.column_by_id(column_id) for column_id in self.key)

    @property
    def value_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.id not in self.key)

    def arrow_schema(self) -> pa.Schema:
        """Return the Arrow schema of the rows that a reader sees."""
        return pa.schema([column.arrow_field() for column in self.columns])

    def update_field(self, column: Column) -> pa.Field:
        """Return the Arrow field of a column in updates: a delete in an upsert table has a key and no values."""
        field = column.arrow_field()
        return field.with_nullable(True) if self.key and column.id not in self.key else field

    def update_schema(self) -> pa.Schema:
        """Return the Arrow schema of updates: the rows with their logical time and diff."""
        return pa.schema([*map(self.update_field, self.columns), *UPDATE_FIELDS])

    def in_files(self) -> "TableSchema":
        """Return the table as its files know it: with names that may leave the catalog."""
        if not self.settings.names_by_id:
            return self
        return replace(self, columns=tuple(replace(column, name=f"c{column.id}") for column in self.columns))

    def to_json(self) -> dict[str, Any]:
        return {
            "name": str(self.name),
            "columns": [column.to_json() for column in self.columns],
            "key": list(self.key),
            "merge_mode": self.merge_mode.value,
            "sort_by": list(self.sort_by),
            "partition_by": [of.to_json() for of in self.partition_by],
            "lookup": list(self.lookup),
            "keep_statistics": list(self.keep_statistics),
            "dropped": list(self.dropped),
            "settings": self.settings.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableSchema":
        def ids(role: str) -> tuple[ColumnId, ...]:
            return tuple(ColumnId(number) for number in value[role])

        return cls(
            TableName.parse(value["name"]),
            tuple(map(Column.from_json, value["columns"])),
            ids("key"),
            MergeMode(value["merge_mode"]),
            ids("sort_by"),
            tuple(Partition(ColumnId(number), PartitionUnit(unit)) for number, unit in value["partition_by"]),
            ids("lookup"),
            ids("keep_statistics"),
            ids("dropped"),
            TableSettings.from_json(value["settings"]),
        )
