"""`instar demo`: tell the story, and end with what was measured."""

from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from instar.config import Settings
from instar.rollout.stages import Stage


def demo() -> None:
    """Roll a live table out through a real scheduler: six stages, a planted fault, its repair."""
    from instar.demo import story
    from instar.orchestrate.stack import stack

    settings = Settings.load()
    typer.echo("Starting PostgreSQL and Airflow (scheduler, API server, DAG processor, triggerer) …")
    with stack(settings) as api:
        typer.echo(f"Airflow is up at {api.url}.\n")
        lake = story.open_demo(settings)
        table = story.fresh_table(lake, api)
        rows = story.write_history(table)
        _say(1, f"{story.TABLE} holds {rows:,} rows of {story.HISTORY_DAYS} days, in codec parts: opaque blobs.")
        seconds_before = story.ask(table)
        _say(2, f"Readers ask {len(story.QUESTIONS)} questions ({seconds_before:.2f} s); each is recorded in the lake.")
        part, _ = story.plant_wrong_value(table)
        _say(3, f"A faulty encoder adds a valid part with one wrong value in it:\n   {part}")
        with story.live_ingest(lake) as live:
            _say(4, "From here on an ingest commits a row every moment.")
            landing = settings.work / "demo" / "landing"
            day = story.run_ingest(api, landing, story.land(landing, story.HISTORY_DAYS))
            _say(
                5,
                f"instar_ingest brings in one day more: {day['rows']:,} rows; "
                f"{day['rejects']} malformed lines are in quarantine, each with its reason.",
            )
            _say(6, "First rollout: instar_rollout takes the table through its stages …")
            run_id, state, outcomes = story.run_rollout(api)
            if state != "failed":
                raise story.DemoFailed(f"The first rollout ended as {state}: the wrong value went unseen.")
            _print_fault(outcomes)
            typer.echo(f"   The flags stay where the last good stage left them: {_words(table.flags.to_json())}.")
            _say(7, f"Repair: the day is written again, as a new generation (revision {story.repair(table)}).")
            _say(8, "Second rollout …")
            run_id, state, outcomes = story.run_rollout(api)
            landed = len(live.revisions)
        seconds_after = story.ask(table)
        _print_outcomes(outcomes)
        typer.echo(
            f"The flags now: {_words(table.flags.to_json())}. Questions took {seconds_before:.2f} s, now {seconds_after:.2f} s."
        )
        typer.echo(f"The ingest never stopped: {landed} commits, the last at revision {live.revisions[-1]}.")
    if state != "success":
        raise story.DemoFailed(f"The second rollout ended as {state}.", help="make up, then open its run.")
    typer.echo(
        f"\nLook around: make up, open instar_rollout, run {run_id}; each gate has a link to its Data Docs page."
    )
    typer.echo(
        f'Or: instar tables · instar explain {story.TABLE} --where "{story.QUESTIONS[0][0]}" · instar catalog history'
    )


def _say(step: int, text: str) -> None:
    typer.echo(f"{step}. {text}")


def _words(flags: dict[str, str]) -> str:
    return " ".join(f"{flag}={value}" for flag, value in flags.items())


def _print_fault(outcomes: Sequence[Any]) -> None:
    shadow = next(outcome for outcome in outcomes if outcome.stage is Stage.SHADOW_VALIDATION)
    typer.echo(f"   The gate of {shadow.stage.label} {shadow.verdict}, and names what is wrong:")
    for row in shadow.result["evidence"]:
        if row["differences"]:
            typer.echo(f"   part       {row['part']}")
            typer.echo(f"   row        {row['row']}, column {row['column']}")
            typer.echo(f"   codec      {row['codec_value']}")
            typer.echo(f"   structured {row['structured_value']}")


def _print_outcomes(outcomes: Sequence[Any]) -> None:
    grid = Grid("stage", "gate", "rows", "bytes", "read seconds", "parts skipped", "ingest landed", title="The rollout")
    for outcome in outcomes:
        grid.add_row(*_cells(outcome))
    Console(width=None if Console().is_terminal else 140).print(grid)


def _cells(outcome: Any) -> list[str]:
    summary: dict[str, Any] = outcome.result.get("summary", {})
    landed = outcome.result.get("landed", [])
    before, after = summary.get("before", {}), summary.get("after", {})
    rows = summary.get("rows_compared") or after.get("rows")
    size = f"{before['bytes']:,} → {after['bytes']:,}" if before else ""
    times = ""
    if "seconds_codec" in summary:
        times = f"{summary['seconds_codec']:.3f} → {summary['seconds_structured']:.3f}"
    skipped = f"{summary['parts_skipped']} of {summary['parts_planned']}" if "parts_skipped" in summary else ""
    first = f"revision {landed[0]['revision']} and {len(landed) - 1} more" if landed else "none"
    return [outcome.stage.label, outcome.verdict, f"{rows:,}" if rows else "", size, times, skipped, first]
