from dataclasses import replace

import pytest

from instar.catalog.actions import Collect, SetFlags
from instar.catalog.checkpoint import ForeignSnapshot, agrees_with_replay, read_checkpoint, write_checkpoint
from instar.catalog.encoding import DamagedObject, encode_checkpoint
from instar.catalog.timeline import Timeline
from instar.flags import Flags, WriteFormat
from tests.catalog.samples import Writer


def eventful() -> Writer:
    writer = Writer()
    writer.create()
    writer.create("air")
    writer.add(3, origin="jan", generation=1)
    writer.add(1, table="air")
    writer.commit(SetFlags("h2o", Flags(WriteFormat.DUAL), 1))
    writer.add(2, origin="jan", generation=2)
    writer.compact(writer.keys(), [("jan", 2)])
    writer.commit(Collect((writer.uuids(),)))
    return writer


def test_a_checkpoint_holds_the_state_that_a_replay_leads_to() -> None:
    writer = eventful()
    for revision in range(1, 9):
        written = write_checkpoint(writer.timeline, writer.timeline.load(revision))
        assert written.revision == revision
        assert written.bytes == len(writer.store.get(written.key))
        assert agrees_with_replay(writer.timeline, revision)
    assert read_checkpoint(writer.timeline, 8).table("h2o").origins["jan"].generation == 2


def test_a_checkpoint_that_differs_from_the_replay_is_found_out() -> None:
    writer = eventful()
    head = writer.timeline.load()
    written = write_checkpoint(writer.timeline, head)
    wrong = replace(head, tables={**head.tables, "h2o": replace(head.table("h2o"), flags_version=9)})
    writer.store.put(written.key, encode_checkpoint(wrong))
    assert not agrees_with_replay(writer.timeline, 8)


def test_committing_goes_on_from_a_checkpoint_as_from_a_replay() -> None:
    writer = eventful()
    write_checkpoint(writer.timeline, writer.timeline.load())
    writer.add(2, origin="feb", generation=1)
    assert Timeline(writer.store, "w1", "weather").load().equals(writer.timeline.replay(9))


def test_writing_a_checkpoint_again_repairs_it() -> None:
    writer = eventful()
    written = write_checkpoint(writer.timeline, writer.timeline.load())
    writer.store.put(written.key, b"")
    with pytest.raises(DamagedObject):
        read_checkpoint(writer.timeline, 8)
    write_checkpoint(writer.timeline, writer.timeline.load())
    assert agrees_with_replay(writer.timeline, 8)


def test_a_snapshot_that_the_log_does_not_hold_is_refused() -> None:
    writer = eventful()
    head = writer.timeline.load()
    for foreign in (replace(head, uuid=writer.uuids()), replace(head, writer="w2"), writer.timeline.load(0)):
        with pytest.raises(ForeignSnapshot):
            write_checkpoint(writer.timeline, foreign)
    assert writer.timeline.listing().checkpoints == ()
