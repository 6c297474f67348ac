"""Every suite of a stage: what passes it, and each single thing that does not."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from instar.orchestrate.rollout import GATES
from instar.quality.gate import SUITES, BrokenGate, Verdict, judge, rows_frame

# Great Expectations imports modules of the standard library that are deprecated; nothing here can mend that.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_(constants|parse)' is deprecated:DeprecationWarning")

Row = dict[str, Any]
PARAMETERS = {"most_rejects": 0.05, "most_growth": 3.0, "most_slowdown": 1.5}

GOOD: Mapping[str, Row] = {
    "ingest": {
        "table": "weather.t",
        "origin": "s:1",
        "generation": 7,
        "files": 2,
        "lines": 100,
        "rows": 94,
        "rejects": 5,
        "other": 1,
        "accounted": 100,
        "reject_share": 0.05,
        "already": False,
    },
    "dual_write": {"table": "weather.t", "live_rows": 9, "dual_rows": 9, "codec_parts": 0, "growth": 3.0},
    "shadow_validation": {
        "part": "a.parquet",
        "live_rows": 9,
        "compared_rows": 9,
        "differences": 0,
        "row": None,
        "column": None,
        "codec_value": None,
        "structured_value": None,
    },
    "pushdown": {"filter": "a > 1", "parts": 4, "skipped": 1, "violations": 0, "part": None, "row": None},
    "read_switchover": {
        "query": "a where a > 1",
        "rows_codec": 3,
        "rows_structured": 3,
        "differing": 0,
        "seconds_codec": 0.2,
        "seconds_structured": 0.1,
        "slowdown": 1.5,
    },
    "compaction": {
        "origin": "s:1",
        "parts_before": 3,
        "parts_after": 1,
        "updates_before": 9,
        "updates_after": 9,
        "same_content": True,
        "differences": 0,
        "codec_bytes_left": 0,
    },
    "catalog_checkpoint": {"timeline": "main/weather", "revision": 9, "agrees": True, "live_parts": 1},
    "orphan_plan": {"timeline": "main/weather", "files": 4, "orphans": 3, "referenced_orphans": 0, "bytes": 99},
    "orphan_gc": {"timeline": "main/weather", "live_parts": 1, "missing": 0, "deleted": 3, "survivors": 1},
}

BAD: list[tuple[str, Row, str]] = [
    ("ingest", {"files": 0}, "At least one file was read."),
    ("ingest", {"accounted": 99}, "Every line became a row"),
    ("ingest", {"accounted": 101}, "Every line became a row"),
    ("ingest", {"lines": None}, "Every line became a row"),
    ("ingest", {"lines": None, "accounted": None}, "Every line became a row"),
    ("ingest", {"reject_share": 0.051}, "Rejected lines are few enough."),
    ("dual_write", {"live_rows": 0, "dual_rows": 0}, "The table has rows."),
    ("dual_write", {"dual_rows": 8}, "Every live row has both encodings."),
    ("dual_write", {"dual_rows": 10}, "Every live row has both encodings."),
    ("dual_write", {"growth": 3.01}, "Two encodings take no more room"),
    ("shadow_validation", {"live_rows": 0, "compared_rows": 0}, "Every part has rows."),
    ("shadow_validation", {"compared_rows": 0}, "Every live row was compared."),
    ("shadow_validation", {"compared_rows": None}, "Every live row was compared."),
    ("shadow_validation", {"differences": 1}, "Both encodings hold the same datums."),
    ("pushdown", {"violations": 1}, "No part is skipped that holds a row"),
    ("read_switchover", {"rows_structured": 2}, "Both paths answer with as many rows."),
    ("read_switchover", {"differing": 1}, "Both paths answer with the same rows."),
    ("read_switchover", {"slowdown": 1.51}, "The structured path is not slower"),
    ("compaction", {"updates_after": 8}, "No update was lost or made up."),
    ("compaction", {"same_content": False}, "The merged content is what it was."),
    ("compaction", {"differences": 1}, "No datum differs."),
    ("compaction", {"codec_bytes_left": 1}, "No live part holds codec bytes."),
    ("catalog_checkpoint", {"agrees": False}, "The state from the checkpoint is the state from the log."),
    ("orphan_plan", {"referenced_orphans": 1}, "No file that the catalog names counts as an orphan."),
    ("orphan_gc", {"missing": 1}, "Every live part is there."),
]
DECISIVE = [
    ("ingest", "files"),
    ("ingest", "reject_share"),
    ("dual_write", "live_rows"),
    ("dual_write", "growth"),
    ("shadow_validation", "live_rows"),
    ("shadow_validation", "differences"),
    ("pushdown", "violations"),
    ("read_switchover", "differing"),
    ("read_switchover", "slowdown"),
    ("compaction", "same_content"),
    ("compaction", "differences"),
    ("compaction", "codec_bytes_left"),
    ("catalog_checkpoint", "agrees"),
    ("catalog_checkpoint", "live_parts"),
    ("orphan_plan", "files"),
    ("orphan_plan", "referenced_orphans"),
    ("orphan_gc", "live_parts"),
    ("orphan_gc", "missing"),
]
"""Columns that a suite decides by: Great Expectations passes over what is unknown unless it is told otherwise."""


def judged(suite: str, rows: list[Row], folder: Path) -> Verdict:
    return judge(suite, rows_frame(rows), folder, "page.html", PARAMETERS)


def broken(verdict: Verdict) -> list[str]:
    return [outcome.meaning for outcome in verdict.outcomes if not outcome.passed]


def test_there_is_evidence_here_for_every_suite_that_the_stages_use() -> None:
    used = {gate.suite for gates in GATES.values() for gate in gates} | {"ingest", "orphan_plan"}
    assert used == set(GOOD)


@pytest.mark.parametrize("suite", GOOD)
def test_good_evidence_passes_with_nothing_to_tell(suite: str, tmp_path: Path) -> None:
    verdict = judged(suite, [GOOD[suite], GOOD[suite]], tmp_path)
    assert verdict.passed
    assert broken(verdict) == []


@pytest.mark.parametrize(("suite", "change", "meaning"), BAD)
def test_one_bad_row_among_good_ones_fails_and_says_what_it_breaks(
    suite: str, change: Row, meaning: str, tmp_path: Path
) -> None:
    verdict = judged(suite, [GOOD[suite], GOOD[suite] | change], tmp_path)
    assert not verdict.passed
    assert any(said.startswith(meaning) for said in broken(verdict))


@pytest.mark.parametrize(("suite", "column"), DECISIVE)
def test_what_is_unknown_is_not_taken_as_good(suite: str, column: str, tmp_path: Path) -> None:
    assert not judged(suite, [GOOD[suite], GOOD[suite] | {column: None}], tmp_path).passed


@pytest.mark.parametrize("suite", GOOD)
@pytest.mark.parametrize("columns", [False, True], ids=["no columns", "columns"])
def test_no_evidence_at_all_does_not_pass(suite: str, tmp_path: Path, *, columns: bool) -> None:
    batch = rows_frame([GOOD[suite]]).iloc[:0] if columns else rows_frame([])
    try:
        verdict = judge(suite, batch, tmp_path, "page.html", PARAMETERS)
    except BrokenGate:
        return
    assert not verdict.passed


@pytest.mark.parametrize(
    ("suite", "column", "meaning"),
    [
        ("pushdown", "skipped", "Some filter skips some part: pruning prunes."),
        ("catalog_checkpoint", "live_parts", "Some checkpoint names live parts."),
        ("orphan_plan", "files", "Some timeline has files."),
        ("orphan_gc", "live_parts", "Some timeline has live parts."),
    ],
)
def test_rows_may_hold_nothing_but_not_all_of_them(suite: str, column: str, meaning: str, tmp_path: Path) -> None:
    """A writer that created a table need not have written to it; a gate over nothing at all must fail."""
    nothing = GOOD[suite] | {column: 0}
    assert judged(suite, [nothing, GOOD[suite]], tmp_path).passed
    assert broken(judged(suite, [nothing, nothing], tmp_path)) == [meaning]


def test_a_difference_is_named_by_part_row_column_and_both_values(tmp_path: Path) -> None:
    found = {"part": "b.parquet", "row": 3, "column": "surface", "codec_value": "61.5", "structured_value": "16.5"}
    rows = [GOOD["shadow_validation"], GOOD["shadow_validation"] | found | {"differences": 1}]
    verdict = judged("shadow_validation", rows, tmp_path)
    (outcome,) = [outcome for outcome in verdict.outcomes if not outcome.passed]
    (example,) = outcome.examples
    assert found.items() <= example.items()


@pytest.mark.parametrize("suite", GOOD)
def test_every_expectation_is_critical_and_says_what_it_means(suite: str) -> None:
    for expectation in json.loads((SUITES / f"{suite}.json").read_text())["expectations"]:
        assert expectation["notes"].endswith(".")
        assert expectation.get("severity", "critical") == "critical"
