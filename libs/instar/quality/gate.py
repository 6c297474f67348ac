"""Hold a batch against a suite of expectations and return a verdict."""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeGuard

from instar.errors import InstarError
from instar.quality.page import render_broken_page, render_page

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame as SparkDataFrame

SUITES = resources.files("instar.quality") / "suites"
"""A folder, or a place in the zip that executors have the library as."""
CRITICAL = "critical"
EXAMPLES = 20


class NoSuchSuite(InstarError):
    """A gate that names no suite."""


class BrokenGate(InstarError):
    """A gate that could not be evaluated, which is neither a pass nor a failure."""


@dataclass(frozen=True)
class Outcome:
    """What became of one expectation. `examples` are rows that broke it."""

    expectation: str
    meaning: str
    passed: bool
    severity: str
    observed: Any
    examples: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Verdict:
    """A gate's decision: it passes if every critical expectation holds."""

    suite: str
    outcomes: tuple[Outcome, ...]
    page: str = ""
    """The page that shows it, relative to the folder of pages."""

    @property
    def passed(self) -> bool:
        return all(outcome.passed or outcome.severity != CRITICAL for outcome in self.outcomes)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON values, whatever the rows held."""
        plain: dict[str, Any] = json.loads(json.dumps({**asdict(self), "passed": self.passed}, default=str))
        return plain

    def __str__(self) -> str:
        broken = [outcome for outcome in self.outcomes if not outcome.passed]
        lines = [f"The gate {self.suite!r} {'passed' if self.passed else 'failed'}."]
        for outcome in broken:
            lines.append(f"- {outcome.meaning} ({outcome.severity}; observed: {outcome.observed})")
            lines += [f"    {json.dumps(example, default=str)}" for example in outcome.examples]
        return "\n".join(lines)


def rows_frame(rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Return rows of a report as a batch; no rows make an empty one, which a suite should refuse."""
    import pandas as pd

    return pd.DataFrame(list(rows), dtype=object)  # as they are: a whole number beside a null would become a float


def judge(
    suite: str,
    batch: "pd.DataFrame | SparkDataFrame",
    pages: Path,
    page: str,
    parameters: Mapping[str, Any] | None = None,
) -> Verdict:
    """Hold `batch` against the suite of that name; write the page that shows the result; return the verdict.

    `parameters` fill the suite's placeholders. An expectation that raises breaks the gate: it never counts as held.
    A gate that breaks has a page too.
    """
    target = pages / page
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        result, outcomes = _hold(suite, batch, parameters or {})
    except Exception as error:
        target.write_text(render_broken_page(suite, f"{type(error).__name__}: {error}"))
        raise
    target.write_text(render_page(result, outcomes))
    return Verdict(suite, outcomes, page)


def _hold(
    suite: str, batch: "pd.DataFrame | SparkDataFrame", parameters: Mapping[str, Any]
) -> tuple[Any, tuple[Outcome, ...]]:
    """Return what Great Expectations says, and the same as outcomes, one for every expectation of the suite."""
    definition = load_suite(suite)
    expectations = definition["expectations"]
    if not expectations:
        raise BrokenGate(f"The gate {suite!r} has no expectation.", help="It would let everything pass: give it one.")
    if _is_pandas(batch) and not len(batch.columns):
        # Rows of a report that there are none of: the verdict is to say so, not that a column is missing.
        batch = batch.reindex(columns=_columns(expectations))
    gx = _great_expectations()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("batch") if _is_pandas(batch) else context.data_sources.add_spark("batch")
    asset = source.add_dataframe_asset(suite)
    whole = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": batch})
    index = [name for name in definition.get("index", []) if name in batch.columns]
    try:
        result = whole.validate(
            gx.ExpectationSuite(name=suite, expectations=expectations),
            result_format={"result_format": "COMPLETE", "unexpected_index_column_names": index},
            expectation_parameters=dict(parameters),
        )
    except gx.exceptions.GreatExpectationsError as error:
        raise BrokenGate(f"The gate {suite!r} could not be evaluated: {error}.") from error
    # It only logs an expectation that it can't make sense of, and goes on without.
    if (count := len(result.results)) != len(expectations):
        raise BrokenGate(
            f"Only {count} of the {len(expectations)} expectations of the gate {suite!r} were evaluated.",
            help="The log names the others: correct the suite.",
        )
    return result, tuple(_outcome(suite, held.to_json_dict()) for held in result.results)


def load_suite(suite: str) -> dict[str, Any]:
    """Return the definition of the suite of that name."""
    path = SUITES / f"{suite}.json"
    if not path.is_file():
        names = ", ".join(sorted(PurePath(file.name).stem for file in SUITES.iterdir()))
        raise NoSuchSuite(f"There is no suite {suite!r}.", help=f"There are: {names}.")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def _outcome(suite: str, held: dict[str, Any]) -> Outcome:
    config, result = held["expectation_config"], held.get("result") or {}
    info = held["exception_info"]
    # One entry, or one per metric that raised.
    raised = [info] if "raised_exception" in info else list(info.values())
    if reasons := [entry["exception_message"] for entry in raised if entry["raised_exception"]]:
        reason = "; ".join(dict.fromkeys(reasons))
        raise BrokenGate(f"{config['type']} of the gate {suite!r} could not be evaluated: {reason}.")
    notes = config.get("notes") or config["type"]
    examples = result.get("unexpected_index_list") or [{"value": v} for v in result.get("partial_unexpected_list", [])]
    return Outcome(
        expectation=config["type"],
        meaning=notes if isinstance(notes, str) else " ".join(notes),
        passed=held["success"],
        severity=config.get("severity") or CRITICAL,
        observed=result.get("observed_value", f"{result.get('unexpected_count', '?')} unexpected"),
        examples=tuple(examples[:EXAMPLES]),
    )


def _columns(expectations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that expectations speak of."""
    named = (of["kwargs"].get(word) for of in expectations for word in ("column", "column_A", "column_B"))
    return list(dict.fromkeys(name for name in named if name))


def _is_pandas(batch: Any) -> TypeGuard["pd.DataFrame"]:
    return type(batch).__module__.startswith("pandas.")


def _great_expectations() -> Any:
    """Import Great Expectations (seconds), without telemetry and without its log lines."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    import great_expectations

    # It sets this level itself when it is imported, and tells of a folder that it does not use.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return great_expectations
