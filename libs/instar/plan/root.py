"""An open lake: its store, its catalog, and where time and identity come from."""

from instar.catalog.union import Catalog
from instar.clock import Clock, UuidSource, random_uuid, system_clock
from instar.storage.config import StoreConfig, open_store


class Root:
    """What every operation on a lake needs."""

    def __init__(
        self,
        config: StoreConfig,
        *,
        clock: Clock = system_clock,
        uuids: UuidSource = random_uuid,
        single_process: bool = False,
    ) -> None:
        self.config = config
        self.store = open_store(config)
        self.catalog = Catalog(self.store, single_process=single_process)
        self.clock = clock
        self.uuids = uuids
