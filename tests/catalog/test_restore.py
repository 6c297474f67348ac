import pytest

from instar.catalog.commit import CommitConflict
from instar.catalog.names import LogKind
from instar.catalog.restore import CannotRestore, plan_restore, restore
from instar.catalog.timeline import DamagedTransaction, Timeline
from instar.catalog.union import Catalog
from tests.catalog.samples import Writer


def filled() -> Writer:
    writer = Writer()
    writer.create()
    for number in range(4):
        writer.add(upload=True, origin=f"day {number}", generation=1)
    writer.compact(writer.keys()[:2], [("day 0", 1), ("day 1", 1)])
    return writer


def test_an_old_revision_is_the_newest_again_and_nothing_in_between_is_forgotten() -> None:
    writer = filled()
    old, newest = writer.timeline.load(3), writer.timeline.load()
    plan = plan_restore(writer.timeline, 3)
    assert [step.revision for step in plan.undone] == [4, 5, 6]
    assert set(plan.returning) == old.live_keys() - newest.live_keys()
    assert set(plan.leaving) == newest.live_keys() - old.live_keys()
    done = restore(writer.timeline, plan, clock=writer.clock, uuids=writer.uuids)
    assert done.revision == 7
    fresh = Timeline(writer.store, "w1", "weather")
    assert dict(fresh.load().tables) == dict(old.tables)
    assert fresh.load(6).equals(newest)


def test_a_run_that_was_undone_can_be_committed_again() -> None:
    writer = filled()
    restore(writer.timeline, plan_restore(writer.timeline, 2), clock=writer.clock, uuids=writer.uuids)
    again = writer.add(upload=True, origin="day 3", generation=1)
    assert not again.already


def test_a_restore_that_was_overtaken_by_a_commit_does_nothing() -> None:
    writer = filled()
    plan = plan_restore(writer.timeline, 3)
    writer.add()
    with pytest.raises(CommitConflict, match="Revision 7 was committed after revision 6 was looked at"):
        restore(writer.timeline, plan, clock=writer.clock, uuids=writer.uuids)
    assert writer.timeline.load().revision == 7


def test_a_restore_to_files_that_are_gone_is_refused() -> None:
    writer = filled()
    gone = min(writer.timeline.load(3).live_keys())
    writer.store.delete([gone])
    plan = plan_restore(writer.timeline, 3)
    assert plan.missing == (gone,)
    with pytest.raises(CannotRestore, match="1 files of revision 3 are gone"):
        restore(writer.timeline, plan, clock=writer.clock, uuids=writer.uuids)


def test_a_torn_newest_transaction_refuses_writes_and_opens_at_the_one_before() -> None:
    writer = filled()
    key = writer.timeline.key(6, LogKind.TRANSACTION)
    torn = writer.store.get(key)[:-9]
    writer.store.put(key, torn)
    fresh = Writer(writer.store, seed=3)
    with pytest.raises(DamagedTransaction, match=r"Revision 6 .* is damaged"):
        fresh.add()
    assert writer.timeline.listing().head == 6
    view = Catalog(writer.store).view()
    assert str(view.vector) == "w1/weather@5"
    assert "read-only at revision 5" in view.notes[0]


def test_a_torn_newest_transaction_is_moved_aside_by_a_restore_and_writes_go_on() -> None:
    writer = filled()
    key = writer.timeline.key(6, LogKind.TRANSACTION)
    torn = writer.store.get(key)[:-9]
    writer.store.put(key, torn)
    fresh = Writer(writer.store, seed=3)
    plan = plan_restore(fresh.timeline, 5)
    assert plan.damaged == (6,)
    restore(fresh.timeline, plan, clock=fresh.clock, uuids=fresh.uuids)
    assert fresh.add().revision == 7
    (kept,) = [info.key for info in writer.store.list(f"{key}.damaged-")]
    assert writer.store.get(kept) == torn
    assert Catalog(writer.store).view().notes == ()
