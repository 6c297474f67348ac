"""`instar demo`: tell the story, and end with what was measured."""

from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table as Grid

from instar.cli.lake import open_lake
from instar.cli.output import flags_in_words
from instar.config import Settings
from instar.rollout.stages import Stage

if TYPE_CHECKING:
    from instar.demo.story import Rollout, StageOutcome

WIDTH = 140  # where there is no terminal


def demo() -> None:
    """Roll a live table out through a real scheduler: six stages, a planted fault, its repair."""
    from instar.demo import story
    from instar.demo.live import LiveIngest
    from instar.orchestrate.stack import stack

    settings = Settings.load()
    typer.echo("Starting PostgreSQL and Airflow (scheduler, API server, DAG processor, triggerer) …")
    with stack(settings) as api:
        typer.echo(f"Airflow is up at {api.url}.\n")
        lake = open_lake("")
        table = story.fresh_table(lake, api)
        rows = story.write_history(table)
        typer.echo(f"1. {story.TABLE} holds {rows:,} rows of {story.HISTORY_DAYS} days in codec parts: opaque blobs.")
        before = story.ask(table)
        typer.echo(f"2. Readers ask {len(story.QUESTIONS)} questions, in {before:.2f} s; each is recorded in the lake.")
        part = story.plant_wrong_value(table)
        typer.echo(f"3. A faulty encoder adds a valid part with one wrong value in it:\n   {part}")
        with LiveIngest(lake, story.TABLE) as live:
            typer.echo("4. From here on an ingest commits a row every moment.")
            landing = settings.work / "demo" / "landing"
            day = story.run_ingest(api, landing, story.land(landing, story.HISTORY_DAYS))
            typer.echo(f"5. instar_ingest brings in a day more: {day['rows']:,} rows,")
            typer.echo(f"   and {day['rejects']} malformed lines into quarantine, each with its reason.")
            typer.echo("6. First rollout: instar_rollout takes the table through its stages …")
            first = story.run_rollout(api)
            _print_fault(first.outcome(Stage.SHADOW_VALIDATION))
            typer.echo(f"   The flags stay where the last good stage left them: {flags_in_words(table.flags)}.")
            typer.echo(f"7. Repair: the day is written again, as a new generation: revision {story.repair(table)}.")
            typer.echo("8. Second rollout …")
            second = story.run_rollout(api)
        after = story.ask(table)
        _print_outcomes(first, second)
        typer.echo(f"The flags now: {flags_in_words(table.flags)}.")
        typer.echo(f"The questions took {before:.2f} s; now {after:.2f} s.")
        typer.echo(f"The ingest never stopped: {len(live.revisions)} commits, up to revision {live.revisions[-1]}.")
    if (first.state, second.state) != ("failed", "success"):
        raise story.DemoFailed(
            f"The rollouts ended as {first.state} and {second.state}, not as failed and success.",
            help=f"make up, then open their runs: {first.run_id}, {second.run_id}.",
        )
    typer.echo(f"\nLook around: make up, then open instar_rollout, run {second.run_id};")
    typer.echo("each gate has a link to its Data Docs page. Or ask:")
    typer.echo(f'  instar explain {story.TABLE} --where "{story.QUESTIONS[0][0]}"')
    typer.echo("  instar tables\n  instar catalog history")


def _print_fault(shadow: "StageOutcome") -> None:
    typer.echo(f"   The gate of {shadow.stage.label} {shadow.verdict}, and names what is wrong:")
    for row in shadow.result.get("evidence", []):
        if row["differences"]:
            typer.echo(f"   part       {row['part']}")
            typer.echo(f"   row        {row['row']}, column {row['column']}")
            typer.echo(f"   codec      {row['codec_value']}")
            typer.echo(f"   structured {row['structured_value']}")


def _print_outcomes(first: "Rollout", second: "Rollout") -> None:
    """Show both runs: the second finds its first stage done."""
    grid = Grid("run", "stage", "gate", "rows", "bytes", "read seconds", "parts skipped", "ingest landed at")
    for number, rollout in enumerate((first, second), start=1):
        for outcome in rollout.outcomes:
            if outcome.verdict != "not reached":
                grid.add_row(str(number), outcome.stage.label, outcome.verdict, *_figures(outcome.result))
        grid.add_section()
    Console(width=None if Console().is_terminal else WIDTH).print(grid)


def _figures(result: dict[str, Any]) -> list[str]:
    summary, landed = result.get("summary", {}), result.get("landed", [])
    before, after = summary.get("before", {}), summary.get("after", {})
    rows = summary.get("rows_compared") or after.get("rows")
    return [
        f"{rows:,}" if rows else "",
        f"{before['bytes']:,} → {after['bytes']:,}" if before else "",
        f"{summary['seconds_codec']:.3f} → {summary['seconds_structured']:.3f}" if "seconds_codec" in summary else "",
        f"{summary['parts_skipped']:,} of {summary['parts_planned']:,}" if "parts_skipped" in summary else "",
        f"revision {landed[0]['revision']} and {len(landed) - 1} more" if landed else "none",
    ]
