"""Hold a batch against a suite of expectations and return a verdict."""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.errors import InstarError
from instar.quality.page import render_page

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame as SparkDataFrame

SUITES = Path(__file__).parent / "suites"
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

    return pd.DataFrame(list(rows))


def judge(
    suite: str,
    batch: "pd.DataFrame | SparkDataFrame",
    pages: Path,
    page: str,
    parameters: Mapping[str, Any] | None = None,
) -> Verdict:
    """Hold `batch` against the suite of that name; write the page that shows the result; return the verdict.

    `parameters` fill the suite's placeholders. An expectation that raises breaks the gate: it never counts as held.
    """
    definition = _load(suite)
    gx = _great_expectations()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("batch") if _is_pandas(batch) else context.data_sources.add_spark("batch")
    asset = source.add_dataframe_asset(suite)
    whole = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": batch})
    index = [name for name in definition.get("index", []) if name in batch.columns]
    result = whole.validate(
        gx.ExpectationSuite(name=suite, expectations=definition["expectations"]),
        result_format={"result_format": "COMPLETE", "unexpected_index_column_names": index},
        expectation_parameters=dict(parameters or {}),
    )
    outcomes = tuple(_outcome(suite, held.to_json_dict()) for held in result.results)
    target = pages / page
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(render_page(result))
    return Verdict(suite, outcomes, page)


def _load(suite: str) -> dict[str, Any]:
    path = SUITES / f"{suite}.json"
    if not path.is_file():
        names = ", ".join(sorted(file.stem for file in SUITES.glob("*.json")))
        raise NoSuchSuite(f"There is no suite {suite!r}.", help=f"There are: {names}.")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def _outcome(suite: str, held: dict[str, Any]) -> Outcome:
    config, result = held["expectation_config"], held.get("result") or {}
    if held["exception_info"].get("raised_exception"):
        reason = held["exception_info"].get("exception_message")
        raise BrokenGate(f"{config['type']} of the gate {suite!r} could not be evaluated: {reason}.")
    examples = result.get("unexpected_index_list") or [{"value": v} for v in result.get("partial_unexpected_list", [])]
    return Outcome(
        expectation=config["type"],
        meaning=str(config.get("notes") or config["type"]),
        passed=held["success"],
        severity=config.get("severity") or CRITICAL,
        observed=result.get("observed_value", f"{result.get('unexpected_count', '?')} unexpected"),
        examples=tuple(examples[:EXAMPLES]),
    )


def _is_pandas(batch: Any) -> bool:
    return type(batch).__module__.startswith("pandas.")


def _great_expectations() -> Any:
    """Import Great Expectations (seconds), without telemetry and without its log lines."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    logging.getLogger("great_expectations").setLevel(logging.WARNING)
    import great_expectations

    return great_expectations
