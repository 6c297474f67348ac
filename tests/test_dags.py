"""What holds for every DAG, whichever there are: each file is parsed in a fresh process, as Airflow does it."""

import dataclasses
import json
import os
import runpy
import subprocess
import sys
import time
import typing
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "dags").glob("*.py"))
PARSE_SECONDS = 5.0
HEAVY = ("boto3", "great_expectations", "pandas", "pyarrow", "pyspark")
UNSET_OWNER = "nobody"
UNSET_RETRIES = 77
"""What Airflow is configured to give to tasks that say nothing, so that silence can be told from a choice."""
FORBIDDEN_EVENTS = {"socket.connect", "socket.getaddrinfo", "sqlite3.connect"}


@dataclasses.dataclass(frozen=True)
class Parsed:
    """What a file did when it was parsed, and what it holds."""

    seconds: float
    """Of processor time, Airflow's own imports included: a busy machine is not the file's fault."""
    heavy: list[str]
    touched: list[str]
    errors: list[str]
    dags: list[dict[str, Any]]

    @property
    def tasks(self) -> list[dict[str, Any]]:
        return [task for dag in self.dags for task in dag["tasks"]]


def parse_here(file: Path) -> Parsed:
    """Parse a file in this process, which does nothing else, and note what it touches that it must not."""
    touched: list[str] = []
    sys.addaudithook(lambda event, _: touched.append(event) if event in FORBIDDEN_EVENTS else None)
    from airflow.dag_processing.dagbag import DagBag
    from airflow.sdk import BaseHook, Variable

    for owner, name in ((Variable, "get"), (Variable, "set"), (BaseHook, "get_connection")):
        setattr(owner, name, _noting(touched, f"{owner.__name__}.{name}"))
    bag = DagBag(file, safe_mode=False)
    return Parsed(
        time.process_time(),
        [name for name in HEAVY if name in sys.modules],
        touched,
        list(bag.import_errors.values()),
        [_describe_dag(dag) for dag in bag.dags.values()],
    )


def _noting(touched: list[str], what: str) -> Callable[..., None]:
    def note(*_: Any, **__: Any) -> None:
        touched.append(what)
        raise LookupError(f"{what} was called while a file was parsed")

    return note


def _describe_dag(dag: Any) -> dict[str, Any]:
    return {
        "id": dag.dag_id,
        "tags": sorted(dag.tags),
        "doc": dag.doc_md or "",
        "dagrun_timeout": dag.dagrun_timeout is not None,
        "tasks": [_describe_task(task) for task in dag.tasks],
    }


def _describe_task(task: Any) -> dict[str, Any]:
    given = getattr(task, "partial_kwargs", vars(task))  # a mapped task keeps what it was given apart
    arguments = given.get("arguments")
    return {
        "id": task.task_id,
        "owner": task.owner,
        "retries": task.retries,
        "timeout": task.execution_timeout is not None,
        "job": given.get("job") if task.task_type == "SparkJobOperator" else None,
        "arguments": sorted(arguments) if isinstance(arguments, dict) and arguments else None,
    }


def parse(file: Path, home: Path) -> Parsed:
    """Parse a file in a fresh process that has no database, no store and no Variables."""
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "INSTAR", "AWS"))},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": str(UNSET_RETRIES),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/no-such-folder/airflow.db",
        "AIRFLOW__OPERATORS__DEFAULT_OWNER": UNSET_OWNER,
        "INSTAR_LAKE_URI": "nowhere://lake",
        "INSTAR_WORK_DIR": str(home / "work"),
    }
    code = "import sys; from tests.test_dags import report; report(sys.argv[1], sys.argv[2])"
    target = home / "parsed.json"
    done = subprocess.run(
        [sys.executable, "-c", code, file, target], env=env, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return Parsed(**json.loads(target.read_text()))


def report(file: str, target: str) -> None:
    """Write what parsing `file` showed."""
    Path(target).write_text(json.dumps(dataclasses.asdict(parse_here(Path(file)))))


@pytest.fixture(scope="module", params=FILES, ids=lambda file: file.stem)
def file(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def parsed(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    return parse(file, tmp_path_factory.mktemp(file.stem))


def test_there_are_dags_to_test() -> None:
    assert ROOT / "dags" / "instar_doctor.py" in FILES


def test_a_file_holds_the_one_dag_that_it_is_named_after(file: Path, parsed: Parsed) -> None:
    assert parsed.errors == []
    assert [dag["id"] for dag in parsed.dags] == [file.stem]
    assert file.stem.startswith("instar_")


def test_a_file_is_parsed_fast_and_without_heavy_imports(parsed: Parsed) -> None:
    assert parsed.heavy == []
    assert parsed.seconds < PARSE_SECONDS


def test_parsing_touches_no_database_store_or_variable(parsed: Parsed) -> None:
    assert parsed.touched == []


def test_a_dag_has_a_description_tags_and_an_end(parsed: Parsed) -> None:
    for dag in parsed.dags:
        assert dag["doc"].startswith("# ")
        assert "instar" in dag["tags"]
        assert dag["dagrun_timeout"]


def test_every_task_has_an_owner_a_timeout_and_a_say_on_retries(parsed: Parsed) -> None:
    assert parsed.tasks
    assert [task["id"] for task in parsed.tasks if task["owner"] == UNSET_OWNER] == []
    assert [task["id"] for task in parsed.tasks if task["retries"] == UNSET_RETRIES] == []
    assert [task["id"] for task in parsed.tasks if not task["timeout"]] == []


def test_every_spark_task_names_a_job_and_arguments_that_it_takes(parsed: Parsed) -> None:
    assert [problem for task in parsed.tasks for problem in job_problems(task)] == []


def job_problems(task: dict[str, Any]) -> list[str]:
    """Return what is wrong with a Spark task's job and those of its arguments that the file spells out."""
    if task["job"] is None:
        return []
    script = ROOT / "spark_jobs" / f"{task['job']}.py"
    if not script.is_file():
        return [f"{task['id']}: there is no {script.name}"]
    if task["arguments"] is None:
        return []
    fields, required = job_arguments(script)
    given = set(task["arguments"])
    problems = [f"{task['id']}: {script.name} takes no {name}" for name in sorted(given - fields)]
    return problems + [f"{task['id']}: {script.name} needs {name}" for name in sorted(required - given)]


def job_arguments(script: Path) -> tuple[set[str], set[str]]:
    """Return the names of a job's arguments, and of those without a default."""
    arguments = typing.get_type_hints(SimpleNamespace(**runpy.run_path(str(script))).run)["arguments"]
    fields = dataclasses.fields(arguments)
    required = {field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING}
    return {field.name for field in fields}, required


SHODDY = """
from airflow.sdk import dag, task
from instar.orchestrate.spark_job import SparkJobOperator

{statement}

@dag(schedule=None)
def instar_shoddy():
    SparkJobOperator(task_id="job", job="{job}", arguments={arguments})

instar_shoddy()
"""


def shoddy(folder: Path, statement: str = "", job: str = "doctor", arguments: str = "None") -> Parsed:
    file = folder / "instar_shoddy.py"
    file.write_text(SHODDY.format(statement=statement, job=job, arguments=arguments))
    return parse(file, folder)


@pytest.mark.parametrize(
    ("statement", "touched"),
    [
        ("from airflow.sdk import Variable; Variable.get('x', default=None)", "Variable.get"),
        ("from airflow.sdk import BaseHook; BaseHook.get_connection('x')", "BaseHook.get_connection"),
        ("import socket; socket.create_connection(('127.0.0.1', 1))", "socket.connect"),
        ("from airflow.utils.session import create_session as c\nwith c() as s: s.connection()", "sqlite3.connect"),
    ],
)
def test_a_file_that_touches_something_is_caught(tmp_path: Path, statement: str, touched: str) -> None:
    caught = shoddy(tmp_path, statement)
    assert touched in caught.touched
    assert caught.errors


def test_a_file_that_opens_the_lake_or_imports_spark_is_caught(tmp_path: Path) -> None:
    opening = "from instar.config import Settings; from instar.storage.config import StoreConfig, open_store\n"
    opening += "import pyspark; open_store(StoreConfig(Settings.load().lake))"
    caught = shoddy(tmp_path, opening)
    assert "pyspark" in caught.heavy
    assert "names no store" in caught.errors[0]


def test_a_task_that_says_nothing_or_names_wrong_arguments_is_caught(tmp_path: Path) -> None:
    caught = shoddy(tmp_path, arguments="{'executors': 1, 'speed': 9}")
    (task,) = caught.tasks
    assert (task["owner"], task["retries"], task["timeout"]) == (UNSET_OWNER, UNSET_RETRIES, False)
    assert job_problems(task) == ["job: doctor.py takes no speed", "job: doctor.py needs store"]
    assert job_problems({**task, "job": "nurse"}) == ["job: there is no nurse.py"]
