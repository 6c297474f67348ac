"""The doctor, on a store that overwrites on put-if-absent."""

import sys

import doctor

import instar.doctor.store
from instar.storage.config import StoreConfig, open_store
from instar.storage.faulty import OverwritingStore


def open_overwriting(config: StoreConfig) -> OverwritingStore:
    return OverwritingStore(open_store(config))


instar.doctor.store.open_store = open_overwriting  # type: ignore[attr-defined]
sys.exit(doctor.main(sys.argv[1:]))
