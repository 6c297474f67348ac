"""The stages as tasks: each enters, works, is judged and leaves; a failure takes back what entering did to flags."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from airflow.sdk import TaskGroup, TriggerRule, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException

from instar.config import Settings
from instar.errors import InstarError
from instar.flags import Flags
from instar.orchestrate.gate import GateOperator
from instar.orchestrate.resources import FLAGS_POOL
from instar.orchestrate.spark_job import SparkJobOperator
from instar.rollout.stages import TRANSITIONS, Stage, is_behind, reason_to_skip


class NoTables(InstarError):
    """A run without a table."""


@dataclass(frozen=True)
class Gate:
    """A suite, the entry of the job's result that it judges, and the parameters of the DAG that it takes."""

    suite: str
    entry: str = "evidence"
    parameters: tuple[str, ...] = ()

    def after(self, job: SparkJobOperator) -> GateOperator:
        result: Any = job.output
        return GateOperator(
            task_id=f"{self.suite}_gate",
            suite=self.suite,
            rows=result[self.entry],
            parameters={name: f"{{{{ params.{name} }}}}" for name in self.parameters},
            retries=0,
        )


GATES: Mapping[Stage, tuple[Gate, ...]] = {
    Stage.DUAL_WRITE: (Gate("dual_write", parameters=("most_growth",)),),
    Stage.SHADOW_VALIDATION: (Gate("shadow_validation"), Gate("pushdown", entry="pushdown")),
    Stage.READ_SWITCHOVER: (Gate("read_switchover", parameters=("most_slowdown",)),),
    Stage.COMPACTION: (Gate("compaction"),),
    Stage.CATALOG_CHECKPOINT: (Gate("catalog_checkpoint"),),
    Stage.ORPHAN_GC: (Gate("orphan_gc"),),
}


def rollout_stage(stage: Stage, table: Any, after: Sequence[Any]) -> Sequence[Any]:
    """Add the tasks of a stage of the rollout, for one table of a mapped group; return those that the next one awaits.

    A stage that is left out holds nothing up. One that failed stops the stages behind it, and so the run fails: a
    roll-back that succeeds is never what the next stage, or the end of the run, depends on.
    """
    transition = TRANSITIONS[stage]
    with TaskGroup(f"stage_{stage.value}", prefix_group_id=False, tooltip=stage.label):
        entered: Any = enter.override(task_id=f"{stage.label}_enter")(stage.label, table)
        after >> entered
        version: Any = entered["version"]
        first, ends = work(stage, entered)
        if transition.enter:
            flip = set_flags.override(task_id=f"{stage.label}_flags")(entered["table"], dict(transition.enter), version)
            flip >> first
            back = roll_back.override(task_id=f"{stage.label}_roll_back")(
                stage.label, entered["table"], entered["flags"]
            )
            [flip, first, *ends] >> back
            version = flip
        if transition.leave:
            left = set_flags.override(task_id=f"{stage.label}_leave")(entered["table"], dict(transition.leave), version)
            ends >> left
            ends = [left]
    return ends


def maintenance_stage(stage: Stage, table: Any, after: Sequence[Any]) -> Sequence[Any]:
    """Add the tasks that repeat a stage's work on a table of a mapped group; return those that the next one awaits."""
    with TaskGroup(f"upkeep_{stage.value}", prefix_group_id=False, tooltip=stage.label):
        due: Any = upkeep.override(task_id=f"{stage.label}_enter")(stage.label, table)
        after >> due
        return work(stage, due)[1]


def work(stage: Stage, entered: Any) -> tuple[Any, list[Any]]:
    """Add a stage's jobs and gates; return the first job and the last gates. A sweep obeys a plan that a gate saw."""
    arguments = {"store": entered["store"], "table": entered["table"]}
    first: Any = None
    if stage is Stage.ORPHAN_GC:
        arguments["grace_seconds"] = "{{ params.grace_seconds }}"
        first = SparkJobOperator(task_id="orphan_plan", job=stage.label, arguments=dict(arguments))
        plan = frozen_plan(first.output["summary"])
        Gate("orphan_plan").after(first) >> plan
        arguments["plan"] = plan
    job = SparkJobOperator(task_id=stage.label, job=stage.label, arguments=arguments)
    return first or job, [gate.after(job) for gate in GATES[stage]]


@task
def named_tables() -> list[str]:
    """List the tables that the run was given. None at all is an error: a run over nothing proves nothing."""
    from instar.lake import Lake
    from instar.orchestrate.store import lake_store

    named = get_current_context()["params"]["tables"]
    if not named:
        raise NoTables("The run names no table.", help="Name at least one, as database.table.")
    lake = Lake(lake_store(Settings.load()))
    return [str(lake.table(name).name) for name in dict.fromkeys(named)]


@task
def all_tables() -> list[str]:
    """List the tables that the run was given, or else all that the lake holds."""
    from instar.lake import Lake
    from instar.orchestrate.store import lake_store

    named = get_current_context()["params"]["tables"]
    return list(dict.fromkeys(named)) or [str(name) for name in Lake(lake_store(Settings.load())).tables()]


@task(pool=FLAGS_POOL, trigger_rule=TriggerRule.NONE_FAILED)
def enter(stage: str, table: str) -> dict[str, Any]:
    """Bring the Variables' flags in and remember them. Skip what the table is past, or what the run ends before."""
    flags, entered = _enter(table)
    up_to = Stage.named(get_current_context()["params"]["up_to"])
    if reason := reason_to_skip(Stage.named(stage), up_to, flags):
        raise AirflowSkipException(reason)
    return entered


@task(pool=FLAGS_POOL, trigger_rule=TriggerRule.NONE_FAILED)
def upkeep(stage: str, table: str) -> dict[str, Any]:
    """Bring the Variables' flags in. Skip the compaction of a table that has not come to it in a rollout.

    It would take away what a table in an earlier stage goes back by.
    """
    flags, entered = _enter(table)
    if Stage.named(stage) is Stage.COMPACTION and not is_behind(Stage.READ_SWITCHOVER, flags):
        raise AirflowSkipException("The rollout of the table has not come to compaction.")
    return entered


@task(pool=FLAGS_POOL)
def set_flags(table: str, values: dict[str, str], version: int) -> int:
    """Change flags, unless somebody else has since the stage was entered; return the new version of the Variable."""
    return _change(table, values, version)


@task(pool=FLAGS_POOL, trigger_rule=TriggerRule.ONE_FAILED, retries=3)
def roll_back(stage: str, table: str | None, flags: dict[str, str] | None) -> None:
    """Restore the flags that entering the stage changed."""
    if table is None or flags is None:
        raise AirflowSkipException("The stage was not entered.")
    _change(table, TRANSITIONS[Stage.named(stage)].undo(Flags.parse(flags)))


@task
def frozen_plan(summary: dict[str, Any]) -> str:
    """Hand on where the plan of orphans is that the gate has passed: the sweep deletes nothing else."""
    return str(summary["plan"])


def _enter(table: str) -> tuple[Flags, dict[str, Any]]:
    """Return a table's flags, and what the tasks of its stage need."""
    from instar.lake import Lake
    from instar.model.schema import TableName
    from instar.orchestrate.flags import TaskVariables, bring_in, read_texts
    from instar.orchestrate.store import lake_store

    store = lake_store(Settings.load())
    name = TableName.parse(table)
    wanted = bring_in(Lake(store), name, read_texts(TaskVariables(), name))
    return wanted.flags, {
        "store": asdict(store),
        "table": table,
        "flags": wanted.flags.to_json(),
        "version": wanted.table_version,
    }


def _change(table: str, values: Mapping[str, str], expected: int | None = None) -> int:
    from instar.lake import Lake
    from instar.model.schema import TableName
    from instar.orchestrate.flags import TaskVariables, change
    from instar.orchestrate.store import lake_store

    lake = Lake(lake_store(Settings.load()))
    return change(lake, TaskVariables(), TableName.parse(table), values, expected=expected).table_version
