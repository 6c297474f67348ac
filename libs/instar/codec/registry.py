"""The codecs that a part may name: the built-in ones, and those of installed packages.

A package offers a codec by an entry point of the group `instar.codecs`. Its name is the codec's name, and it leads to a
codec, or to a class or function that makes one. The built-in names can't be taken.
"""

import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeGuard

from instar.codec.json import JsonCodec
from instar.codec.protocol import Codec
from instar.codec.row import RowCodec
from instar.errors import InstarError

DEFAULT_CODEC = "row"
ENTRY_POINTS = "instar.codecs"

_BUILT_IN: dict[str, Codec] = {codec.name: codec for codec in (RowCodec(), JsonCodec())}


class UnknownCodec(InstarError):
    """A codec name that nothing answers to."""


class BrokenCodec(InstarError):
    """An installed codec that can't be used."""


def codec_named(name: str) -> Codec:
    """Return the codec called `name`, which an installed package may offer."""
    return _BUILT_IN[name] if name in _BUILT_IN else _installed(name)


@functools.cache
def _installed(name: str) -> Codec:
    found = entry_points(group=ENTRY_POINTS)
    offers = [entry for entry in found if entry.name == name]
    if not offers:
        known = ", ".join([*_BUILT_IN, *sorted(found.names - _BUILT_IN.keys())])
        raise UnknownCodec(
            f"There is no codec {name!r}.", help=f"Use one of: {known}; or install the package that offers it."
        )
    if len(offers) > 1:
        raise BrokenCodec(
            f"Codec {name!r} is offered by {' and by '.join(map(_described, offers))}.", help="Uninstall all but one."
        )
    return _load(offers[0])


def _load(entry: EntryPoint) -> Codec:
    try:
        loaded = entry.load()
        codec = loaded if _is_codec(loaded) else loaded()
    except Exception as error:
        raise BrokenCodec(
            f"Codec {entry.name!r}, {_described(entry)}, can't be loaded: {type(error).__name__}: {error}.",
            help="Install a version of the package that works here.",
        ) from error
    if not _is_codec(codec) or codec.name != entry.name:
        raise BrokenCodec(
            f"Codec {entry.name!r}, {_described(entry)}, is {codec!r}: no codec of that name.",
            help="An entry point leads to an object with this name, encode and decode, or to what makes one.",
        )
    return codec


def _is_codec(value: Any) -> TypeGuard[Codec]:
    there = all(hasattr(value, attribute) for attribute in ("name", "encode", "decode"))
    return there and not isinstance(value, type)


def _described(entry: EntryPoint) -> str:
    package = f" of package {entry.dist.name}" if entry.dist else ""
    return f"{entry.value}{package}"
