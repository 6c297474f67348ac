"""What a key may look like, the same for every store, so that none escapes its root."""

import re

from instar.storage.protocol import InvalidKey, InvalidRange

TEMPORARY_FOLDER = ".instar-temporary"
"""Where the local store prepares objects; no key lies below it in any store."""

_LONGEST_KEY = 1024  # S3's limit, in bytes
_LONGEST_SEGMENT = 255  # of file systems, in bytes
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f\\]")


def check_key(key: str) -> str:
    """Return `key`, or raise InvalidKey with the reason."""
    if not key:
        raise InvalidKey("A key is empty.", help="Name the object.")
    _check_characters(key)
    for segment in (segments := key.split("/")):
        _check_segment(key, segment)
    if segments[0] == TEMPORARY_FOLDER:
        raise InvalidKey(f"{key!r} lies in a reserved folder.", help=f"Keep out of {TEMPORARY_FOLDER}.")
    return key


def check_prefix(prefix: str) -> str:
    """Return `prefix`, or raise InvalidKey if its folders could not be those of a key."""
    _check_characters(prefix)
    for segment in prefix.split("/")[:-1]:
        _check_segment(prefix, segment)
    return prefix


def is_key(key: str) -> bool:
    """Tell whether `key` could have been put; a listing leaves out what could not."""
    try:
        check_key(key)
    except InvalidKey:
        return False
    return True


def check_range(start: int, length: int) -> None:
    if start < 0 or length < 0:
        raise InvalidRange(f"There are no {length} bytes from {start}.", help="Count from 0.")


def _check_characters(text: str) -> None:
    if _FORBIDDEN.search(text):
        raise InvalidKey(f"{text!r} holds a control character or a backslash.", help="Leave it out, or escape it.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidKey(f"{text!r} can't be written as UTF-8.", help="Leave out lone surrogates.") from None
    if size > _LONGEST_KEY:
        raise InvalidKey(f"A key of {size} bytes is too long.", help=f"{_LONGEST_KEY} is the most.")


def _check_segment(key: str, segment: str) -> None:
    if segment in ("", ".", ".."):
        raise InvalidKey(f"{key!r} has the segment {segment!r}.", help="Write it as name/name, without . and ..")
    if len(segment.encode()) > _LONGEST_SEGMENT:
        raise InvalidKey(f"{key!r} has a segment that is too long.", help=f"{_LONGEST_SEGMENT} bytes are the most.")
