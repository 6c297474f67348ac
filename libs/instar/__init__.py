"""Instar: move a live table from opaque blobs to columnar files, with proof at every gate."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from instar.lake import Lake


def open(uri: str, **options: Any) -> "Lake":  # noqa: A001  # it is what the caller does: instar.open(...)
    """Open the lake below a root: `file:///folder` or `s3://bucket/prefix`. See `instar.lake.open_lake`."""
    from instar.lake import open_lake  # DAG files import this package: Arrow must not come with it

    return open_lake(uri, **options)
