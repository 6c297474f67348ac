"""Where a part lives below the lake's root."""

from urllib.parse import quote, unquote

from instar.parts.footer import Provenance

_EMPTY = "-"
_NOT_BARE = str.maketrans({".": "%2E", "~": "%7E"})


def escape_name(name: str) -> str:
    """Return `name` as one path segment that stays inside its folder on every store.

    ASCII letters, digits, `_` and `-` stay; every other byte of its UTF-8 form becomes `%XX`. The empty name becomes
    `-`, and the name `-` becomes `%2D`, so different names never meet.
    """
    if name in ("", _EMPTY):
        return "%2D" if name else _EMPTY
    return quote(name, safe="").translate(_NOT_BARE)


def unescape_name(segment: str) -> str:
    """Return the name that `escape_name` turned into `segment`."""
    return "" if segment == _EMPTY else unquote(segment, errors="strict")


def part_key(provenance: Provenance, ordinal: int) -> str:
    """Return the key of the `ordinal`th part of an attempt, relative to the root.

    The transaction's uuid is known before the upload and its revision is not, so the name carries the uuid.
    """
    table = provenance.table
    folders = (provenance.writer, table.database, "data", provenance.partition, table.table)
    name = f"{provenance.transaction}-{provenance.attempt}-{ordinal:05d}.parquet"
    return "/".join([*map(escape_name, folders), name])
