import html
import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from instar.config import Settings
from instar.engine.shipping import library_zip
from instar.errors import InstarError
from instar.quality import gate
from instar.quality.gate import BrokenGate, NoSuchSuite, Verdict, judge, rows_frame

# Great Expectations imports modules of the standard library that are deprecated; nothing here can mend that.
AREAS = ("driver", "executor", "store", "airflow")


def findings(**levels: str) -> list[dict[str, str]]:
    """Return one finding per area, ok unless told otherwise."""
    return [
        {
            "area": area,
            "where": f"{area}-1",
            "check": "disk",
            "level": levels.get(area, "ok"),
            "found": "3 GiB",
            "meaning": "Room.",
            "remedy": f"Free some on {area}.",
        }
        for area in AREAS
    ]


def doctor(folder: Path, rows: list[dict[str, str]]) -> Verdict:
    return judge("doctor", rows_frame(rows), folder, "page.html")


def planted(folder: Path, monkeypatch: pytest.MonkeyPatch, *expectations: dict[str, Any], **rest: Any) -> str:
    """Write a suite of its own for one test, and return its name."""
    (folder / "planted.json").write_text(json.dumps({"expectations": expectations, **rest}))
    monkeypatch.setattr(gate, "SUITES", folder)
    return "planted"


def test_a_batch_that_meets_every_expectation_passes(tmp_path: Path) -> None:
    verdict = doctor(tmp_path, findings())
    assert verdict.passed
    assert len(verdict.outcomes) == 4
    assert all(outcome.passed for outcome in verdict.outcomes)
    assert str(verdict) == "The gate 'doctor' passed."


def test_a_failure_names_the_rows_and_what_they_mean(tmp_path: Path) -> None:
    verdict = doctor(tmp_path, findings(store="error"))
    assert not verdict.passed
    (broken,) = [outcome for outcome in verdict.outcomes if not outcome.passed]
    assert (broken.meaning, broken.severity) == ("No finding is an error.", "critical")
    (example,) = broken.examples
    assert {"where": "store-1", "remedy": "Free some on store."}.items() <= example.items()
    text = str(verdict)
    assert text.startswith("The gate 'doctor' failed.")
    assert "No finding is an error." in text
    assert "Free some on store." in text
    assert "driver-1" not in text


def test_a_breach_of_a_warning_is_told_and_does_not_fail(tmp_path: Path) -> None:
    verdict = doctor(tmp_path, findings(executor="warning"))
    assert verdict.passed
    (broken,) = [outcome for outcome in verdict.outcomes if not outcome.passed]
    assert (broken.meaning, broken.severity) == ("No finding is a warning.", "warning")
    assert "executor-1" in str(verdict)


def test_an_area_that_was_not_examined_fails(tmp_path: Path) -> None:
    verdict = doctor(tmp_path, [row for row in findings() if row["area"] != "store"])
    assert not verdict.passed
    assert "Every area was examined." in str(verdict)


@pytest.mark.parametrize("columns", [[], list(findings()[0])], ids=["no columns", "no rows"])
def test_an_empty_batch_does_not_pass(tmp_path: Path, columns: list[str]) -> None:
    batch = rows_frame([]).reindex(columns=columns)
    assert not judge("doctor", batch, tmp_path, "page.html").passed


def test_an_expectation_of_a_missing_column_breaks_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expectation = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "missing", "min_value": 0}}
    suite = planted(tmp_path, monkeypatch, expectation)
    with pytest.raises(BrokenGate, match=r"expect_column_values_to_be_between.*'planted'.*missing"):
        judge(suite, rows_frame([{"x": 1}]), tmp_path, "page.html")


def test_even_a_warning_of_a_missing_column_breaks_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be evaluated is never taken as held."""
    kwargs = {"column": "missing", "min_value": 0}
    expectation = {"type": "expect_column_values_to_be_between", "kwargs": kwargs, "severity": "warning"}
    suite = planted(tmp_path, monkeypatch, expectation)
    with pytest.raises(BrokenGate):
        judge(suite, rows_frame([{"x": 1}]), tmp_path, "page.html")


@pytest.mark.parametrize(("most", "passed"), [(5, True), (4, False)])
def test_parameters_fill_the_placeholders_of_a_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, *, passed: bool
) -> None:
    kwargs = {"column": "x", "max_value": {"$PARAMETER": "most"}}
    suite = planted(tmp_path, monkeypatch, {"type": "expect_column_values_to_be_between", "kwargs": kwargs})
    verdict = judge(suite, rows_frame([{"x": 1}, {"x": 5}]), tmp_path, "page.html", {"most": most})
    assert verdict.passed is passed


def test_examples_are_few_where_breaches_are_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kwargs = {"column": "x", "max_value": -1}
    expectation = {"type": "expect_column_values_to_be_between", "kwargs": kwargs}
    suite = planted(tmp_path, monkeypatch, expectation, index=["x"])
    verdict = judge(suite, rows_frame([{"x": x} for x in range(1000)]), tmp_path, "page.html")
    assert len(verdict.outcomes[0].examples) == gate.EXAMPLES
    assert verdict.outcomes[0].observed == "1000 unexpected"


def test_an_unknown_suite_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(NoSuchSuite, match=r"no suite 'dokter'.*There are: .*\bdoctor\b"):
        judge("dokter", rows_frame(findings()), tmp_path, "page.html")


def test_a_parameter_that_is_not_given_breaks_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kwargs = {"column": "x", "max_value": {"$PARAMETER": "most"}}
    suite = planted(tmp_path, monkeypatch, {"type": "expect_column_values_to_be_between", "kwargs": kwargs})
    with pytest.raises(BrokenGate, match=r"'planted'.*most"):
        judge(suite, rows_frame([{"x": 1}]), tmp_path, "page.html")


def test_an_expectation_that_does_not_exist_breaks_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Great Expectations logs it and goes on without: a misspelt suite would let everything pass."""
    good = {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}}
    suite = planted(tmp_path, monkeypatch, good, {"type": "expect_a_miracle", "kwargs": {}})
    with pytest.raises(BrokenGate, match="1 of the 2 expectations"):
        judge(suite, rows_frame([{"x": 1}]), tmp_path, "page.html")


def test_a_suite_without_expectations_breaks_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BrokenGate, match="no expectation"):
        judge(planted(tmp_path, monkeypatch), rows_frame([{"x": 1}]), tmp_path, "page.html")


@pytest.mark.parametrize("suite", ["planted", "dokter"])
def test_a_gate_that_breaks_leaves_a_page_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str
) -> None:
    """Its task links to the page all the same."""
    kwargs = {"column": "missing", "min_value": 0}
    planted(tmp_path, monkeypatch, {"type": "expect_column_values_to_be_between", "kwargs": kwargs})
    with pytest.raises(InstarError) as broken:
        judge(suite, rows_frame([{"x": 1}]), tmp_path, "dag/run/task.html")
    page = html.unescape((tmp_path / "dag/run/task.html").read_text())
    assert f"The gate {suite!r} is broken" in page
    assert broken.value.fact in page


def test_suites_are_found_inside_a_zip(tmp_path: Path) -> None:
    """Executors have the library as a zip."""
    shipped = library_zip(Settings(work_dir=tmp_path))

    def run(code: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", f"from instar.quality import gate; {code}"]
        env = {**os.environ, "PYTHONPATH": str(shipped)}
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("print(gate.__file__, len(gate.load_suite('doctor')['expectations']))")
    assert done.stdout.split() == [str(shipped / "instar" / "quality" / "gate.py"), "4"], done.stderr
    done = run("gate.load_suite('dokter')")
    assert re.search(r"There are: .*\bdoctor\b", done.stderr)


def test_a_verdict_becomes_json_with_its_decision(tmp_path: Path) -> None:
    verdict = doctor(tmp_path, findings(store="error"))
    shown = json.loads(json.dumps(verdict.to_json()))
    assert (shown["suite"], shown["passed"], shown["page"]) == ("doctor", False, "page.html")
    assert len(shown["outcomes"]) == 4


def test_the_page_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    verdict = judge("doctor", rows_frame(findings(store="error")), tmp_path, "dag/run/task.html")
    assert verdict.page == "dag/run/task.html"
    assert "Free some on store." in (tmp_path / verdict.page).read_text()


def test_a_gate_says_nothing_on_its_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)  # a task's log shows from here
    doctor(tmp_path, findings(store="error"))
    assert capfd.readouterr() == ("", "")
    assert caplog.messages == []


def test_numbers_are_shown_as_the_report_has_them_beside_nulls_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expectation = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "differences", "value_set": [0]}}
    suite = planted(tmp_path, monkeypatch, expectation, index=["row"])
    rows: list[dict[str, object]] = [{"row": None, "differences": 0}, {"row": 3, "differences": 1}]
    assert '"row": 3}' in str(judge(suite, rows_frame(rows), tmp_path, "page.html"))
