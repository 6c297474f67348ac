"""An ingest that never stops: a station that reports every moment, whatever else is going on."""

import threading
from types import TracebackType
from typing import Self

import pyarrow as pa

from instar.errors import InstarError
from instar.lake import Lake
from instar.model.schema import TableName

LOCATION = "buoy_live"
SECONDS = 0.4
_FIRST_TIME = 1_790_000_000_000_000_000  # nanoseconds; after all history


class LiveIngestFailed(InstarError):
    """The ingest that goes on during the demo came to an end."""


class LiveIngest:
    """Append a row every so many seconds, in a thread of its own, each as an origin of its own."""

    def __init__(self, lake: Lake, table: TableName, *, seconds: float = SECONDS) -> None:
        # A lake of its own: this stands for another process.
        self._table = Lake(lake.config, writer=lake.writer).table(table)
        self._seconds = seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live-ingest", daemon=True)
        self._error: Exception | None = None
        self.revisions: list[int] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise LiveIngestFailed(f"The live ingest failed: {self._error}") from self._error

    def _run(self) -> None:
        try:
            while not self._stop.wait(self._seconds):
                number = len(self.revisions)
                committed = self._table.append(live_row(number), t=number, origin=f"live:{number}")
                self.revisions.append(committed.revision)
        except Exception as error:  # noqa: BLE001 - raised again where the block ends
            self._error = error


def live_row(number: int) -> pa.Table:
    """Return what the station reports at its `number`th moment."""
    time = pa.array([_FIRST_TIME + number * 1_000_000_000], pa.timestamp("ns"))
    return pa.table({"location": [LOCATION], "state": ["CA"], "time": time, "surface_degrees": [50.0 + number % 10]})
