from uuid import UUID

import pyarrow as pa
import pytest

from instar.catalog.actions import AddParts, CreateTable
from instar.catalog.commit import Change, commit
from instar.catalog.names import LogKind
from instar.catalog.rebuild import CannotRebuild, Left, plan_rebuild, rebuild
from instar.catalog.timeline import Timeline
from instar.catalog.union import Catalog
from instar.model import evolve
from instar.model.part import PartFormat
from instar.model.schema import TableName, TableSchema
from instar.parts.footer import Provenance
from instar.plan.write import WriteTask, as_updates, write_parts
from instar.storage.memory import MemoryStore
from tests.catalog.samples import Ticks, numbered_uuids, schema


class Lake:
    """Real part files of one writer, with or without a log."""

    def __init__(self) -> None:
        self.clock, self.uuids = Ticks(), numbered_uuids(3)
        self.store = MemoryStore(clock=self.clock)
        self.timeline = Timeline(self.store, "w1", "weather")

    def write(
        self,
        uuid: UUID | None = None,
        *,
        origin: str = "jan",
        generation: int = 1,
        attempt: int = 0,
        replaces: tuple[str, ...] = (),
        of: TableSchema | None = None,
        format: PartFormat = PartFormat.DUAL,
    ) -> pa.Table:
        table = of or schema()
        provenance = Provenance(
            "w1", table.name, "", uuid or self.uuids(), origin, generation, attempt=attempt, replaces=replaces
        )
        rows = pa.table({"time": pa.array([1, 2], pa.timestamp("us")), "state": ["CA", None], "degrees": [1.5, 2.5]})
        for column in table.columns[3:]:
            rows = rows.append_column(column.name, pa.array([7, 8], pa.int64()))
        return write_parts(self.store, as_updates(rows, 0), WriteTask(table, format, provenance))

    def key(self, *arguments: object, **options: object) -> str:
        (key,) = self.write(*arguments, **options)["key"].to_pylist()  # type: ignore[arg-type]
        return str(key)

    def kept(self, *, lenient: bool = False) -> list[str]:
        (table,) = plan_rebuild(self.timeline, lenient=lenient).tables
        keys: list[str] = table.parts["key"].to_pylist()
        return keys


def test_a_rebuilt_catalog_is_the_one_that_was_lost() -> None:
    lake = Lake()
    commit(lake.timeline, Change(lake.uuids(), (CreateTable(schema()),)), clock=lake.clock)
    for origin in ("jan", "feb"):
        uuid = lake.uuids()
        commit(lake.timeline, Change(uuid, (AddParts("h2o", lake.write(uuid, origin=origin)),)), clock=lake.clock)
    lost = lake.timeline.load().table("h2o")
    lake.store.delete([info.key for info in lake.store.list("w1/weather/transactions/")])
    fresh = Timeline(lake.store, "w1", "weather")
    rebuild(fresh, plan_rebuild(fresh), clock=lake.clock, uuids=lake.uuids)
    found = Catalog(lake.store).view().table(TableName("weather", "h2o"))
    assert found.schema == lost.schema
    assert found.parts.drop_columns(["writer"]).sort_by("key").equals(lost.parts.sort_by("key"))
    assert dict(found.timelines["w1"].origins) == dict(lost.origins)
    again = lake.write(lake.uuids(), origin="mar")
    uuid = UUID(again["transaction"][0].as_py())
    assert commit(fresh, Change(uuid, (AddParts("h2o", again),)), clock=lake.clock).revision == 2


def test_a_damaged_log_is_rebuilt_behind_its_end_and_read_without_a_checkpoint_too() -> None:
    lake = Lake()
    commit(lake.timeline, Change(lake.uuids(), (CreateTable(schema()),)), clock=lake.clock)
    for number in range(3):
        uuid = lake.uuids()
        rows = lake.write(uuid, origin=f"day {number}")
        commit(lake.timeline, Change(uuid, (AddParts("h2o", rows),)), clock=lake.clock)
    before = lake.timeline.load().live_keys()
    lake.store.put(lake.timeline.key(2, LogKind.TRANSACTION), b"torn")
    fresh = Timeline(lake.store, "w1", "weather")
    rebuild(fresh, plan_rebuild(fresh), clock=lake.clock, uuids=lake.uuids)
    assert Timeline(lake.store, "w1", "weather").load().live_keys() == before
    lake.store.put(lake.timeline.key(5, LogKind.CHECKPOINT), b"torn too")
    rebuilt = Timeline(lake.store, "w1", "weather").load()
    assert (rebuilt.revision, rebuilt.live_keys()) == (5, before)


def test_a_committer_from_before_the_rebuild_goes_on_behind_it() -> None:
    lake = Lake()
    commit(lake.timeline, Change(lake.uuids(), (CreateTable(schema()),)), clock=lake.clock)
    uuid = lake.uuids()
    commit(lake.timeline, Change(uuid, (AddParts("h2o", lake.write(uuid)),)), clock=lake.clock)
    other = Timeline(lake.store, "w1", "weather")
    other.load()
    rebuild(lake.timeline, plan_rebuild(lake.timeline), clock=lake.clock, uuids=lake.uuids)
    uuid = lake.uuids()
    done = commit(other, Change(uuid, (AddParts("h2o", lake.write(uuid, origin="feb")),)), clock=lake.clock)
    assert (done.revision, len(done.snapshot.live_keys())) == (4, 2)


def test_older_generations_are_left_out() -> None:
    lake = Lake()
    lake.write(generation=1)
    newer = lake.key(generation=2)
    assert lake.kept() == [newer]


def test_earlier_attempts_of_a_task_are_left_out() -> None:
    lake = Lake()
    uuid = lake.uuids()
    lake.write(uuid, attempt=0)
    later = lake.key(uuid, attempt=1)
    assert lake.kept() == [later]


def test_inputs_win_over_a_rewriting_while_all_of_them_are_there() -> None:
    lake = Lake()
    first, second = lake.key(origin="jan"), lake.key(origin="feb")
    output = lake.key(origin="jan", replaces=(first,))
    assert lake.kept() == sorted([first, second])
    assert (output, Left.NOT_NEEDED, "") in plan_rebuild(lake.timeline).left


def test_outputs_win_when_an_input_was_swept() -> None:
    lake = Lake()
    uuid = lake.uuids()
    inputs = [lake.key(uuid, attempt=0), str(lake.write(lake.uuids(), origin="feb")["key"][0])]
    output = lake.key(replaces=tuple(inputs))
    lake.store.delete(inputs[:1])
    assert lake.kept() == [output]


def test_two_writes_of_one_run_are_a_choice_that_only_lenient_makes() -> None:
    lake = Lake()
    lake.write()
    later = lake.key()
    with pytest.raises(CannotRebuild, match=r"leave 1 choices open.*a guess"):
        plan_rebuild(lake.timeline)
    assert lake.kept(lenient=True) == [later]
    assert "Transaction" in plan_rebuild(lake.timeline, lenient=True).guesses[0]


def test_an_unreadable_part_is_refused_or_left_out_and_hides_no_other_table() -> None:
    lake = Lake()
    bad = lake.key()
    lake.store.put(bad, b"not Parquet")
    lake.write(of=schema("air"))
    with pytest.raises(CannotRebuild, match="can't be read as a part"):
        plan_rebuild(lake.timeline)
    plan = plan_rebuild(lake.timeline, lenient=True)
    assert [table.schema.name.table for table in plan.tables] == ["air"]
    assert plan.left[0][:2] == (bad, Left.UNREADABLE)


def test_a_part_that_says_it_belongs_elsewhere_is_not_taken() -> None:
    lake = Lake()
    key = lake.key()
    moved = key.replace("w1/weather/", "w2/weather/")
    lake.store.put(moved, lake.store.get(key))
    other = Timeline(lake.store, "w2", "weather")
    assert plan_rebuild(other, lenient=True).left == ((moved, Left.ELSEWHERE, "w1/weather"),)


def test_parts_of_several_schemas_get_the_latest_and_its_ids_stay_used() -> None:
    lake = Lake()
    lake.write(origin="jan", of=evolve.add_column(schema(), "level", "int64", ids=lambda: 500))
    lake.clock.now += 10
    lake.write(origin="feb")
    with pytest.raises(CannotRebuild, match="its parts have 2 schemas"):
        plan_rebuild(lake.timeline)
    (table,) = plan_rebuild(lake.timeline, lenient=True).tables
    assert [column.id for column in table.schema.columns] == [101, 102, 103]
    assert table.schema.dropped == (500,)


def test_foreign_files_are_named_and_ignored() -> None:
    lake = Lake()
    key = lake.key()
    lake.store.put("w1/weather/data/-/h2o/notes.txt", b"x")
    plan = plan_rebuild(lake.timeline)
    assert plan.left == (("w1/weather/data/-/h2o/notes.txt", Left.FOREIGN, ""),)
    assert lake.kept() == [key]
