"""Tables and their columns."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NewType

import pyarrow as pa

from instar.clock import IdSource
from instar.errors import InstarError
from instar.model.arrow import ENCODING_VERSION, OPAQUE_VERSION, to_arrow
from instar.model.types import DataType, can_be_key, parse_type

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

    def __post_init__(self) -> None:
        if self.encoding not in (OPAQUE_VERSION, ENCODING_VERSION):
            raise InvalidSchema(
                f"Column {self.name!r} has encoding {self.encoding}.", help="A newer release may know it; use 1, or 0."
            )

    def arrow_field(self) -> pa.Field:
        return pa.field(self.name, to_arrow(self.type), self.nullable, {FIELD_ID_KEY: str(self.id).encode()})


@dataclass(frozen=True)
class TableSchema:
    """A table: its columns in order, its key, what its updates mean and how its parts are sorted."""

    name: TableName
    columns: tuple[Column, ...]
    key: tuple[ColumnId, ...] = ()
    merge_mode: MergeMode = MergeMode.APPEND
    sort_by: tuple[ColumnId, ...] = ()

    def __post_init__(self) -> None:
        self._check_columns()
        self._check_ids("key", self.key)
        self._check_ids("sort_by", self.sort_by)
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

    def _check_ids(self, role: str, named: tuple[ColumnId, ...]) -> None:
        """Check that `named` are columns of this table, each once."""
        if unknown := set(named) - {column.id for column in self.columns}:
            raise InvalidSchema(
                f"{self.name} has no column with id {min(unknown)}.", help=f"Its {role} names its own columns."
            )
        if unfit := [c for c in map(self.column_by_id, named) if not can_be_key(c.type)]:
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
    ) -> "TableSchema":
        """Define a new table from column names and type names, drawing an id for each column.

        Key columns and those in `required` are not nullable. `sort_by` is the key unless given.
        """
        drawn: set[int] = set()
        while len(drawn) < len(columns):
            drawn.add(ids())
        not_null = set(required) | set(key)
        built = tuple(
            Column(ColumnId(number), column, parse_type(type_name), column not in not_null)
            for number, (column, type_name) in zip(sorted(drawn), columns.items(), strict=True)
        )
        by_name = {column.name: column.id for column in built}

        def resolve(names: Iterable[str]) -> tuple[ColumnId, ...]:
            if missing := [n for n in names if n not in by_name]:
                raise InvalidSchema(f"{name} has no column {missing[0]!r}.", help=f"It has: {', '.join(by_name)}.")
            return tuple(by_name[n] for n in names)

        resolve(required)
        return cls(TableName.parse(name), built, resolve(key), MergeMode(merge_mode), resolve(sort_by) or resolve(key))

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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": str(self.name),
            "columns": [
                {"id": c.id, "name": c.name, "type": str(c.type), "nullable": c.nullable, "encoding": c.encoding}
                for c in self.columns
            ],
            "key": list(self.key),
            "merge_mode": self.merge_mode.value,
            "sort_by": list(self.sort_by),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TableSchema":
        return cls(
            TableName.parse(value["name"]),
            tuple(
                Column(ColumnId(c["id"]), c["name"], parse_type(c["type"]), c["nullable"], c["encoding"])
                for c in value["columns"]
            ),
            tuple(ColumnId(number) for number in value["key"]),
            MergeMode(value["merge_mode"]),
            tuple(ColumnId(number) for number in value["sort_by"]),
        )
