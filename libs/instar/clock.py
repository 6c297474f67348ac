"""Sources of time and identity, injected so that tests can choose them."""

import secrets
import time
import uuid
from collections.abc import Callable

Clock = Callable[[], int]
"""Return microseconds since the Unix epoch."""

IdSource = Callable[[], int]
"""Return a fresh 31-bit number, never zero."""

UuidSource = Callable[[], uuid.UUID]


def system_clock() -> int:
    return time.time_ns() // 1_000


def random_id() -> int:
    return secrets.randbelow(2**31 - 1) + 1


random_uuid: UuidSource = uuid.uuid4
