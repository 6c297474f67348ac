"""Each operation, ended at each of its storage operations: what is found afterwards is the state before or after."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from instar.catalog.orphans import plan_orphans
from instar.catalog.timeline import Timeline
from instar.errors import InstarError
from instar.storage.faulty import Crashed, Fault, FaultKind, FaultyStore
from instar.storage.local import LocalStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import Store
from tests.catalog.samples import Ticks
from tests.catalog.scenarios import SCENARIOS, Scenario, contents, timeline
from tests.catalog.tally import TRIED

KINDS = (
    FaultKind.CRASH_BEFORE,
    FaultKind.CRASH_AFTER,
    FaultKind.FAIL_BEFORE,
    FaultKind.FAIL_AFTER,
    FaultKind.LATE,
    FaultKind.TORN_LIST,
)
ROOT = Path(__file__).parents[2]


def copy_of(store: MemoryStore) -> MemoryStore:
    copied = MemoryStore(clock=Ticks())
    for info in store.list(""):
        copied.put(info.key, store.get(info.key))
    return copied


def prepared(scenario: Scenario) -> MemoryStore:
    store = MemoryStore(clock=Ticks())
    scenario.prepare(store)
    return store


def seen(store: Store) -> Any:
    """Return what readers see, or the error that they get."""
    try:
        return contents(store)
    except InstarError as error:
        return type(error)


def check_whole(store: Store) -> None:
    """Check that each retained revision loads, and that every file which one of them names is there."""
    for writer in ("w1", "w2"):
        log: Timeline = timeline(store, writer)
        for revision in range(log.oldest(), log.listing().head + 1):
            for key in log.load(revision).live_keys():
                assert store.get(key)


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_at_any_storage_operation_leaves_the_state_before_or_after(name: str, kind: FaultKind) -> None:
    scenario = SCENARIOS[name]
    start = prepared(scenario)
    before = seen(start)
    done = copy_of(start)
    scenario.run(done)
    after = seen(done)
    files = {info.key for info in done.list("w1/weather/data/")}
    nth = 0
    while True:
        nth += 1
        store = copy_of(start)
        faulty = FaultyStore(store, [Fault("any", nth, kind)])
        acknowledged = False
        try:
            scenario.run(faulty)
            acknowledged = True
        except (Crashed, InstarError):
            pass
        if len(faulty.calls) < nth:
            break
        faulty.settle()
        TRIED["crash points"] += 1
        found = seen(store)
        assert found == after if acknowledged else found in (before, after), (nth, faulty.calls[nth - 1])
        if scenario.readable_before:
            check_whole(store)
        scenario.run(store)
        assert seen(store) == after, (nth, faulty.calls[nth - 1])
        if name == "gc":
            assert {info.key for info in store.list("w1/weather/data/")} == files
            assert plan_orphans(timeline(store), now=2**62).orphans == ()
    assert nth > 2


def points(name: str) -> int:
    counting = FaultyStore(prepared(SCENARIOS[name]))
    SCENARIOS[name].run(counting)
    return len(counting.calls)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_process_that_is_killed_leaves_the_state_before_or_after(name: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[name]
    reference = LocalStore(tmp_path / "reference", durable=False)
    scenario.prepare(reference)
    before = seen(reference)
    scenario.run(reference)
    after = seen(reference)
    last = points(name)
    for nth, moment in {(last, "before"), (last, "after"), (last - 1, "after"), (max(last // 2, 1), "before")}:
        root = tmp_path / f"{nth}-{moment}"
        scenario.prepare(LocalStore(root, durable=False))
        command = [sys.executable, "-m", "tests.catalog.killed", str(root), name, str(nth), moment]
        path = {"PYTHONPATH": f"{ROOT / 'libs'}:{ROOT}"}
        killed = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True, check=False)
        assert killed.returncode == -9, killed.stderr
        TRIED["processes killed"] += 1
        store = LocalStore(root)
        assert seen(store) in (before, after)
        scenario.run(store)
        assert seen(store) == after
