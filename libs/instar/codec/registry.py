"""The codecs that a part may name."""

from instar.codec.protocol import Codec
from instar.codec.row import RowCodec
from instar.errors import InstarError

DEFAULT_CODEC = "row"

_CODECS: dict[str, Codec] = {codec.name: codec for codec in (RowCodec(),)}


class UnknownCodec(InstarError):
    """A codec name that nothing answers to."""


def codec_named(name: str) -> Codec:
    """Return the codec called `name`."""
    try:
        return _CODECS[name]
    except KeyError:
        raise UnknownCodec(f"There is no codec {name!r}.", help=f"Use one of: {', '.join(_CODECS)}.") from None
