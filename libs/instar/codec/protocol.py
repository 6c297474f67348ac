"""What every codec offers."""

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from instar.errors import InstarError
from instar.model.schema import Column


class CodecError(InstarError):
    """Values that a codec can't encode, or blobs that it can't decode."""


class Codec(Protocol):
    """Turn rows into one blob each, and back, whole columns at a time.

    Decoding what was encoded with the same columns gives the same values. Neither side guesses: what does not fit the
    columns is a `CodecError` that names the column and the row.
    """

    @property
    def name(self) -> str: ...

    def encode(self, columns: Sequence[Column], rows: pa.Table) -> pa.BinaryArray:
        """Return a blob per row of `rows`, holding the values of `columns` alone.

        Without columns every blob is empty.
        """
        ...

    def decode(self, columns: Sequence[Column], blobs: pa.BinaryArray) -> pa.Table:
        """Return the rows that `blobs` hold, a field per column as `Column.arrow_field` says."""
        ...
