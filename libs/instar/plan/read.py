"""Read what a plan names, and answer."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from instar.catalog.union import WRITER_COLUMN
from instar.errors import InstarError
from instar.expr.evaluate import evaluate
from instar.flags import Pushdown, ReadFormat
from instar.model.part import PartFormat
from instar.model.schema import UPDATE_FIELDS, Column
from instar.parts.compare import compare_updates, same_values
from instar.parts.reader import OpenPart, open_part
from instar.plan.merge import BY_WRITER, FROM_ORIGIN, merge
from instar.plan.observation import EncodingsDiffer, Observer, ShadowFailed, WronglySkipped
from instar.plan.scan import ScanPlan
from instar.storage.protocol import Store

_READERS = 8
_LABELS = (pa.field(BY_WRITER, pa.string(), nullable=False), pa.field(FROM_ORIGIN, pa.string(), nullable=False))


def answer(store: Store, plan: ScanPlan, observe: Observer) -> pa.Table:
    """Return the rows that the plan's question asks for.

    What a cautious read finds amiss (shadow, soft) goes to `observe`; the answer is the proven one: from the codec,
    and from all parts.
    """
    updates = dict(read_updates(store, plan, observe))
    rows = rows_of(plan, updates)
    if plan.flags.pushdown is Pushdown.SOFT:
        for violation in wrongly_skipped(plan, updates):
            observe(violation)
    return rows


def read_updates(store: Store, plan: ScanPlan, observe: Observer) -> Iterator[tuple[str, pa.Table]]:
    """Yield the key and the updates of each part that the plan keeps, labelled with their writer and origin."""
    parts = plan.kept.select(["key", WRITER_COLUMN, "origin"]).to_pylist()

    def read(part: dict[str, str]) -> tuple[str, pa.Table]:
        return part["key"], labelled(_read_part(store, part["key"], part[WRITER_COLUMN], plan, observe), part)

    with ThreadPoolExecutor(_READERS) as readers:
        yield from readers.map(read, parts)


def labelled(updates: pa.Table, part: Mapping[str, str]) -> pa.Table:
    """Return a part's updates with the writer and the origin that the part's record names."""
    for field, label in zip(_LABELS, (part[WRITER_COLUMN], part["origin"]), strict=True):
        updates = updates.append_column(field, pa.repeat(pa.scalar(label, pa.string()), updates.num_rows))
    return updates


def rows_of(plan: ScanPlan, updates: dict[str, pa.Table]) -> pa.Table:
    """Return the answer to the plan's question, given the updates of its parts."""
    keys = plan.parts["key"].to_pylist()
    merged = merge(
        pa.concat_tables([_no_updates(plan), *(updates[key] for key in keys if key in updates)]), plan.schema
    )
    if plan.filter is not None:
        merged = merged.filter(evaluate(plan.filter, merged, plan.schema))
    return merged.select([column.name for column in plan.columns])


def wrongly_skipped(plan: ScanPlan, updates: dict[str, pa.Table]) -> Iterator[WronglySkipped]:
    """Yield the parts that the plan's proof would skip although the answer, given all updates, needs them."""
    if plan.where is None or plan.proven.all():
        return
    whole, skipped = rows_of(plan, updates), plan.parts.filter(pa.array(~plan.proven))["key"].to_pylist()
    if same_rows(whole, _rows_without(plan, updates, skipped)):
        return
    single = [[key] for key in skipped if not same_rows(whole, _rows_without(plan, updates, [key]))]
    for culprits in single or [skipped]:  # parts may also be missed only together
        row = first_difference(whole, _rows_without(plan, updates, culprits))
        yield WronglySkipped(str(plan.schema.name), plan.where, ", ".join(culprits), row)


def differing_rows(left: pa.Table, right: pa.Table) -> int:
    """Return how many rows of two answers to one question are not the same, place by place."""
    shared = min(left.num_rows, right.num_rows)
    pairs = zip(left.slice(0, shared).columns, right.slice(0, shared).columns, strict=True)
    same = reduce(pc.and_, (same_values(a, b) for a, b in pairs), pa.repeat(pa.scalar(True), shared))
    differing: int = max(left.num_rows, right.num_rows) - pc.sum(same, min_count=0).as_py()
    return differing


def same_rows(left: pa.Table, right: pa.Table) -> bool:
    """Tell whether two answers to one question are the same."""
    return differing_rows(left, right) == 0


def first_difference(left: pa.Table, right: pa.Table) -> str:
    """Return the first row that two answers do not share, as JSON."""
    mine, theirs = _as_json(left), _as_json(right)
    for here, there in zip(mine, theirs, strict=False):
        if here != there:
            return here if here not in theirs else there
    return (mine[len(theirs) :] or theirs[len(mine) :])[0]


def _as_json(rows: pa.Table) -> list[str]:
    # Python has no words for all timestamps.
    spelled = {
        name: (column.cast(pa.string()) if pa.types.is_timestamp(column.type) else column).to_pylist()
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    }
    places = range(rows.num_rows)
    return [json.dumps({name: cells[n] for name, cells in spelled.items()}, default=bytes.hex) for n in places]


def _rows_without(plan: ScanPlan, updates: dict[str, pa.Table], keys: list[str]) -> pa.Table:
    return rows_of(plan, {key: of for key, of in updates.items() if key not in keys})


def _read_part(store: Store, key: str, writer: str, plan: ScanPlan, observe: Observer) -> pa.Table:
    with open_part(store, key) as part:
        columns = plan.columns_of(writer, {column.id for column in part.footer.schema.columns})
        if part.footer.format is PartFormat.STRUCTURED:
            return part.read_structured(columns)
        if part.footer.format is PartFormat.CODEC or plan.flags.read_format is ReadFormat.CODEC:
            return part.read_codec(columns)
        if plan.flags.read_format is ReadFormat.STRUCTURED:
            return part.read_structured(columns)
        return _read_both(part, columns, plan, observe)


def _read_both(part: OpenPart, columns: tuple[Column, ...], plan: ScanPlan, observe: Observer) -> pa.Table:
    """Return what the codec says; publish where the structured columns say otherwise, or nothing."""
    table = str(plan.schema.name)
    codec = part.read_codec(columns)
    try:
        comparison = compare_updates(part.key, codec, part.read_structured(columns), plan.schema)
    except InstarError as error:
        observe(ShadowFailed(table, part.key, str(error)))
        return codec
    for difference in comparison.differences:
        observe(EncodingsDiffer(table, difference))
    return codec


def _no_updates(plan: ScanPlan) -> pa.Table:
    fields = plan.schema.update_schema()
    return pa.schema([*(fields.field(c.name) for c in plan.read_columns), *UPDATE_FIELDS, *_LABELS]).empty_table()
