from dataclasses import replace

import pytest

from instar.catalog.actions import AddParts, CreateTable, RemoveParts
from instar.catalog.apply import TimelineSealed
from instar.catalog.checkpoint import write_checkpoint
from instar.catalog.commit import Change, CommitConflict, commit
from instar.catalog.names import data_prefix
from instar.catalog.orphans import Reason, plan_orphans, sweep
from instar.catalog.prune import plan_prune, prune
from instar.catalog.retire import CannotRetire, plan_retire, retire
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.model.schema import TableName
from instar.storage.memory import MemoryStore
from tests.catalog.samples import Ticks, numbered_uuids, schema
from tests.catalog.scenarios import commit_part, real_parts

H2O = TableName("weather", "h2o")


class Two:
    """A lake of two writers."""

    def __init__(self) -> None:
        self.clock, self.uuids = Ticks(), numbered_uuids(9)
        self.store = MemoryStore(clock=self.clock)
        self.old, self.heir = (Timeline(self.store, writer, "weather") for writer in ("old", "new"))
        for log in (self.old, self.heir):
            commit(log, Change(self.uuids(), (CreateTable(schema()),)), clock=self.clock)
            commit_part(self.store, self.uuids, self.clock, log.writer)

    def retire(self) -> None:
        retire(self.old, self.heir, plan_retire(self.old, self.heir), clock=self.clock, uuids=self.uuids)

    def live(self) -> list[str]:
        keys: list[str] = Catalog(self.store).view().table(H2O).parts["key"].to_pylist()
        return sorted(keys)


def test_readers_see_the_same_parts_before_and_after_and_never_twice() -> None:
    lake = Two()
    before, pinned = lake.live(), Catalog(lake.store).view().vector
    lake.retire()
    view = Catalog(lake.store).view()
    assert lake.live() == before
    assert set(view.table(H2O).timelines) == {"new"}
    assert str(view.vector) == "new/weather@3,old/weather@3"
    earlier = Catalog(lake.store).view(pinned).table(H2O)
    assert set(earlier.timelines) == {"new", "old"}
    assert sorted(earlier.parts["key"].to_pylist()) == before


def test_between_seal_and_adoption_readers_still_see_the_sealed_timeline() -> None:
    lake = Two()
    before = lake.live()
    vector = Catalog(lake.store).view().vector
    lake.retire()
    sealed_only = type(vector).parse("new/weather@2,old/weather@3")
    assert sorted(Catalog(lake.store).view(sealed_only).table(H2O).parts["key"].to_pylist()) == before


def test_a_zombie_of_a_retired_writer_commits_no_more() -> None:
    lake = Two()
    zombie = Timeline(lake.store, "old", "weather")
    zombie.load()
    lake.retire()
    before = lake.live()
    uuid = lake.uuids()
    records = real_parts(lake.store, uuid, writer="old")
    with pytest.raises(TimelineSealed, match=r"'old' was retired from weather at revision 3\. Write as 'new'"):
        commit(zombie, Change(uuid, (AddParts("h2o", records),)), clock=lake.clock)
    assert lake.live() == before


def test_a_commit_between_plan_and_seal_stops_the_retirement() -> None:
    lake = Two()
    plan = plan_retire(lake.old, lake.heir)
    commit_part(lake.store, lake.uuids, lake.clock, "old")
    with pytest.raises(CommitConflict):
        retire(lake.old, lake.heir, plan, clock=lake.clock, uuids=lake.uuids)
    assert lake.old.load().heir is None


def test_a_sealed_writer_has_one_heir() -> None:
    lake = Two()
    lake.retire()
    other = Timeline(lake.store, "other", "weather")
    with pytest.raises(CannotRetire, match="was sealed for 'new'"):
        plan_retire(lake.old, other)
    assert plan_retire(lake.old, lake.heir).adopted


def test_the_files_of_a_retired_writer_go_when_its_heir_has_let_go_of_them() -> None:
    lake = Two()
    adopted = min(lake.old.load().live_keys())
    lake.retire()
    assert plan_orphans(lake.heir, now=2**62).orphans == ()
    commit(lake.heir, Change(lake.uuids(), (RemoveParts("h2o", (adopted,)),)), clock=lake.clock)
    for _ in range(3):
        commit_part(lake.store, lake.uuids, lake.clock, "new")
    assert plan_orphans(lake.heir, now=2**62).orphans == ()
    head = Timeline(lake.store, "new", "weather").load().revision
    for revision in (head - 1, head):
        write_checkpoint(lake.heir, lake.heir.load(revision))
    prune(lake.heir, plan_prune(lake.heir, now=2**62))
    (orphan,) = plan_orphans(lake.heir, now=2**62).orphans
    assert (orphan.key, orphan.reason) == (adopted, Reason.LET_GO)
    sweep(lake.heir, plan_orphans(lake.heir, now=2**62), clock=lake.clock, uuids=lake.uuids)
    assert list(lake.store.list(data_prefix("old", "weather"))) == []


def test_an_adopted_part_stays_though_the_sealed_timeline_is_swept() -> None:
    lake = Two()
    lake.retire()
    left = real_parts(lake.store, lake.uuids(), writer="old")["key"].to_pylist()
    planned = plan_orphans(lake.old, now=2**62)
    assert [orphan.key for orphan in planned.orphans] == left
    sweep(lake.old, planned, clock=lake.clock, uuids=lake.uuids)
    assert lake.old.load().revision == 3
    assert all(lake.store.get(key) for key in lake.live())


def test_a_table_that_the_heir_defines_otherwise_is_refused_before_the_seal() -> None:
    lake = Two()
    commit(lake.old, Change(lake.uuids(), (CreateTable(schema("air")),)), clock=lake.clock)
    other = schema("air")
    commit(
        lake.heir,
        Change(lake.uuids(), (CreateTable(replace(other, columns=other.columns[:2])),)),
        clock=lake.clock,
    )
    with pytest.raises(CannotRetire, match=r"define weather\.air differently"):
        plan_retire(lake.old, lake.heir)
    assert lake.old.load().heir is None
