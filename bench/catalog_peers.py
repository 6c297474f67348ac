"""The peers' side of the catalog benchmark, in an environment of their own. One JSON object per process."""

import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from bench.catalog_list import asked_range, column_types, part_list


def _stats(row: dict[str, Any]) -> str:
    names = list(column_types())
    return json.dumps({
        "numRecords": row["rows"],
        "minValues": {name: row[f"{name}.lower"] for name in names},
        "maxValues": {name: row[f"{name}.upper"] for name in names},
        "nullCount": {name: row[f"{name}.nulls"] for name in names},
    })  # fmt: skip


def _delta_schema() -> Any:
    from deltalake import Schema

    return Schema.from_arrow(_arrow_schema())


def _arrow_schema() -> pa.Schema:
    types = {"int64": pa.int64(), "string": pa.string()}
    return pa.schema([(name, types[kind]) for name, kind in column_types().items()])


def _adds(listed: pa.Table, prefix: str = "") -> list[Any]:
    from deltalake.transaction import AddAction

    return [AddAction(prefix + row["path"], row["bytes"], {}, 0, True, _stats(row)) for row in listed.to_pylist()]


def delta_build(root: str, count: int) -> dict[str, Any]:
    from deltalake import DeltaTable
    from deltalake.transaction import create_table_with_add_actions

    create_table_with_add_actions(root, _delta_schema(), _adds(part_list(count)), mode="error", partition_by=[])
    if count:
        DeltaTable(root).create_checkpoint()
    return {}


def delta_cold_open(root: str, count: int) -> dict[str, Any]:
    from deltalake import DeltaTable

    started = time.perf_counter()
    table = DeltaTable(root)
    opened = time.perf_counter() - started
    adds = pa.table(table.get_add_actions(flatten=True))
    lower, upper = asked_range(count)
    kept = adds.filter(
        pc.and_(pc.greater_equal(adds["max.c0"], lower), pc.less(adds["min.c0"], upper)),
    )
    planned = time.perf_counter() - started
    return {
        "open": opened, "plan": planned, "parts": adds.num_rows,
        "kept": [kept.num_rows, int(pc.sum(kept["size_bytes"]).as_py())],
    }  # fmt: skip


def _delta_commits(root: str, count: int, wait: float = 0.0) -> list[float]:
    from deltalake import DeltaTable

    table = DeltaTable(root)
    each = []
    for action in _adds(part_list(count), f"{uuid4()}-"):  # no two processes add the same file
        started = time.perf_counter()
        if wait:
            time.sleep(wait)
        table.create_write_transaction([action], mode="append", schema=_delta_schema(), partition_by=[])
        each.append(time.perf_counter() - started)
    return each


def delta_refresh(root: str, commits: int) -> dict[str, Any]:
    from deltalake import DeltaTable

    table = DeltaTable(root)
    _delta_commits(root, commits)
    started = time.perf_counter()
    table.update_incremental()
    return {"refresh": time.perf_counter() - started}


def delta_commits(root: str, count: int) -> dict[str, Any]:
    from deltalake import DeltaTable

    delta_build(root, 0)
    each = _delta_commits(root, count)
    return {"each": each, "parts": pa.table(DeltaTable(root).get_add_actions()).num_rows}


def delta_contend(root: str, processes: int, each: int) -> dict[str, Any]:
    from deltalake import DeltaTable

    delta_build(root, 0)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(_delta_commits, [(root, 0)] * processes)
        started = time.perf_counter()
        pool.starmap(_delta_commits, [(root, each, 0.02)] * processes, chunksize=1)
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "parts": pa.table(DeltaTable(root).get_add_actions()).num_rows}


def _iceberg_table(root: str) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog

    Path(root).mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("bench", uri=f"sqlite:///{root}/catalog.db", warehouse=f"file://{root}")
    catalog.create_namespace_if_not_exists("bench")
    return catalog.create_table_if_not_exists("bench.parts", _arrow_schema())


def _data_file(table: Any, row: dict[str, Any]) -> Any:
    from pyiceberg.conversions import to_bytes
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    fields = table.schema().fields
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"{table.location()}/data/{row['path']}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=row["rows"],
        file_size_in_bytes=row["bytes"],
        lower_bounds={of.field_id: to_bytes(of.field_type, row[f"{of.name}.lower"]) for of in fields},
        upper_bounds={of.field_id: to_bytes(of.field_type, row[f"{of.name}.upper"]) for of in fields},
        null_value_counts={of.field_id: row[f"{of.name}.nulls"] for of in fields},
        value_counts={of.field_id: row["rows"] for of in fields},
        column_sizes={}, nan_value_counts={}, split_offsets=[], equality_ids=None, sort_order_id=None,
    )  # fmt: skip


def _iceberg_append(table: Any, rows: list[dict[str, Any]]) -> None:
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for row in rows:
            append.append_data_file(_data_file(table, row))


def iceberg_build(root: str, count: int) -> dict[str, Any]:
    table = _iceberg_table(root)
    _iceberg_append(table, part_list(count).to_pylist())
    table = _iceberg_table(root)
    (Path(root) / "metadata.txt").write_text(table.metadata_location)
    return {}


def iceberg_cold_open(root: str, count: int) -> dict[str, Any]:
    from pyiceberg.table import StaticTable

    location = (Path(root) / "metadata.txt").read_text()
    lower, upper = asked_range(count)
    started = time.perf_counter()
    table = StaticTable.from_metadata(location)
    opened = time.perf_counter() - started
    kept = list(table.scan(row_filter=f"c0 >= {lower} and c0 < {upper}").plan_files())
    planned = time.perf_counter() - started
    return {"open": opened, "plan": planned, "kept": [len(kept), sum(task.file.file_size_in_bytes for task in kept)]}


def iceberg_commits(root: str, count: int) -> dict[str, Any]:
    table = _iceberg_table(root)
    each = []
    for row in part_list(count).to_pylist():
        started = time.perf_counter()
        _iceberg_append(table, [row])
        each.append(time.perf_counter() - started)
    return {"each": each}


CALLS = {name: call for name, call in list(globals().items()) if name.startswith(("delta_", "iceberg_"))}

if __name__ == "__main__":
    arguments = [int(of) if of.isdigit() else of for of in sys.argv[2:]]
    print(json.dumps(CALLS[sys.argv[1]](*arguments)))
