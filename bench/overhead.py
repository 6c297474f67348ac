"""Measure what a Spark job and a gate cost at least, from trigger to verdict, and where the seconds go.

Also: what an idle stack holds in memory, and what a job's own driver costs by the way it is started.
"""

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psutil
import pyspark

from instar.config import Settings
from instar.engine.class_archive import make_archive
from instar.engine.java import Java, find_java
from instar.engine.job import to_argv
from instar.engine.session import session_conf, session_environment
from instar.engine.shipping import library_zip
from instar.orchestrate.api import AirflowApi
from instar.orchestrate.processes import end_trees, spawn
from instar.orchestrate.stack import Running, connect, start_stack, stop_stack

ROOT = Path(__file__).parents[1]
HOST = "127.0.0.1"
ROUNDS = 3
SETTLE_SECONDS = 15.0
MIB = 2**20
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
C1_SERIAL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
DAGS = {"instar_doctor": "examine_spark", "overhead_own": "job", "overhead_shared": "job"}
"""Each DAG that is measured, with its Spark task."""


@dataclass(frozen=True)
class Split:
    """The seconds of one run, by what they were spent on. They add up to the whole."""

    airflow: float
    """Scheduling, starting tasks, and tasks that are neither the job nor the gate."""
    start: float
    """From the start of the job's task to its code: the operator, the JVM, Python's imports."""
    session: float
    work: float
    end: float
    """From the job's answer to the end of its task: the session stops, the driver exits."""
    gate: float

    @property
    def total(self) -> float:
        return self.airflow + self.start + self.session + self.work + self.end + self.gate


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="instar-overhead-") as folder:
        settings = lay_out(Path(folder))
        java = find_java(settings.work)
        make_archive(settings, java)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before, Java {java.version}")
        with connect_server(settings, java) as server:
            fresh = tree_memory(server)
            ways = measure_ways(settings, java)
            print_ways(ways)
            started = time.monotonic()
            running = start_stack(settings)
            up = time.monotonic() - started
            try:
                time.sleep(SETTLE_SECONDS)
                memory = idle_memory(settings, running)
                memory |= {"(Spark Connect, fresh)": fresh, "(Spark Connect, used)": tree_memory(server)}
                print_memory(memory, up)
                with connect(settings, running) as api:
                    splits = measure_runs(api)
                print_splits(splits)
            finally:
                stop_stack(settings)
    print(json.dumps({"bench": "overhead", "ratios": figures(ways, memory, splits)}))


def lay_out(home: Path) -> Settings:
    """Make a home of the product's files and the benchmark's; share the class archive, which is slow to make."""
    for name in ("dags", "spark_jobs"):
        (home / name).mkdir()
        for source in (ROOT / name, ROOT / "bench" / name):
            for file in source.glob("*.py"):
                (home / name / file.name).write_bytes(file.read_bytes())
    (home / "plugins").symlink_to(ROOT / "plugins")
    (home / "requirements.txt").symlink_to(ROOT / "requirements.txt")
    archives = ROOT / ".work" / "java-classes"
    archives.mkdir(parents=True, exist_ok=True)
    (home / ".work").mkdir()
    (home / ".work" / "java-classes").symlink_to(archives)
    return Settings(home=home, spark_connect=f"sc://{HOST}:{free_port()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def connect_server(settings: Settings, java: Java) -> Iterator[psutil.Process]:
    """Run a Spark Connect server for the length of a block."""
    port = int(settings.spark_connect.rpartition(":")[2])
    conf = session_conf(settings, java) | {
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": str(port),
    }
    command = [
        *spark_submit(settings, conf),
        "--class=org.apache.spark.sql.connect.service.SparkConnectServer",
        "spark-internal",
    ]
    log = settings.work / "connect.log"
    started = spawn("connect", command, {**os.environ, **session_environment(java)}, log, settings.home)
    process = psutil.Process(started.pid)
    try:
        deadline = time.monotonic() + 60
        while not listens(port):
            if time.monotonic() > deadline or started.running() is None:
                raise TimeoutError(log.read_text()[-2000:])
            time.sleep(0.2)
        yield process
    finally:
        end_trees([process])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def spark_submit(settings: Settings, conf: dict[str, str]) -> list[str]:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    return [str(submit), f"--master={settings.spark_master}", *(f"--conf={key}={value}" for key, value in conf.items())]


def measure_ways(settings: Settings, java: Java) -> dict[str, list[float]]:
    """Run the smallest job by each way to start it, in turn, and return the seconds of each."""
    conf = session_conf(settings, java)
    archive = conf[JAVA_OPTIONS]
    report = settings.work / "report.json"
    job = [str(settings.home / "spark_jobs" / "smallest.py"), *to_argv({"report": str(report)})]
    env = {**os.environ, **session_environment(java), "INSTAR_HOME": str(settings.home)}

    def submit(options: str) -> Callable[[], float]:
        own = spark_submit(settings, {**conf, JAVA_OPTIONS: options})
        return lambda: timed([*own, f"--py-files={library_zip(settings)}", *job], env, report)

    ways: dict[str, Callable[[], float]] = {
        "plain": submit(""),
        "class archive": submit(archive),
        "class archive, C1, serial": submit(f"{archive} {C1_SERIAL}"),
        "C1, serial": submit(C1_SERIAL),
        "Spark Connect": lambda: timed([sys.executable, *job], {**env, "SPARK_REMOTE": settings.spark_connect}, report),
    }
    ways["Spark Connect"]()  # the server's first query loads its classes
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            taken[name].append(way())
    return taken


def timed(command: Sequence[str], env: dict[str, str], report: Path) -> float:
    """Run a job and return its seconds; its report must hold the one right answer."""
    report.unlink(missing_ok=True)
    started = time.monotonic()
    subprocess.run(command, env=env, check=True, capture_output=True)
    seconds = time.monotonic() - started
    found = {row["found"] for row in json.loads(report.read_text())["result"]}
    if found != {"1000 rows, library shipped"}:
        raise ValueError(f"The job answered {found}.")
    return seconds


def measure_runs(api: AirflowApi) -> dict[str, list[Split]]:
    """Run each DAG in turn and return how its seconds split. The first run of each, which is cold, is left out."""
    while DAGS.keys() - api.dags():
        time.sleep(0.5)
    for dag_id in DAGS:
        run_dag(api, dag_id)
    splits: dict[str, list[Split]] = {dag_id: [] for dag_id in DAGS}
    for _ in range(ROUNDS):
        for dag_id, taken in splits.items():
            taken.append(run_dag(api, dag_id))
    return splits


def run_dag(api: AirflowApi, dag_id: str) -> Split:
    triggered = time.time()
    run_id = api.trigger(dag_id)
    if (state := api.wait(dag_id, run_id, timeout=180)) != "success":
        tasks = [task["task_id"] for task in api.tasks(dag_id, run_id) if task["state"] == "failed"]
        logs = "\n".join(api.log(dag_id, run_id, task)[-3000:] for task in tasks)
        raise ValueError(f"{dag_id} ended as {state}:\n{logs}")
    finished = _time(api.run(dag_id, run_id)["end_date"])
    job, gate = (api.task(dag_id, run_id, task) for task in (DAGS[dag_id], "gate"))
    report = api.result(dag_id, run_id, DAGS[dag_id])
    session, work = report["seconds"]["session"], report["seconds"]["work"]
    return Split(
        airflow=finished - triggered - job["duration"] - gate["duration"],
        start=report["started"] - _time(job["start_date"]),
        session=session,
        work=work,
        end=_time(job["end_date"]) - report["started"] - session - work,
        gate=gate["duration"],
    )


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def idle_memory(settings: Settings, running: Running) -> dict[str, int]:
    """Return the memory of the stack by process tree. Pages that processes share are counted once."""
    postmaster = int((settings.work / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    trees = {process.name: psutil.Process(process.pid) for process in running.processes}
    return {name: tree_memory(root) for name, root in {**trees, "postgres": psutil.Process(postmaster)}.items()}


def tree_memory(root: psutil.Process) -> int:
    return sum(process.memory_full_info().pss for process in (root, *root.children(recursive=True)))


def print_ways(ways: dict[str, list[float]]) -> None:
    print("\nThe smallest job, by the way it is started (median, range; seconds)")
    for name, taken in ways.items():
        print(f"  {name:<28} {statistics.median(taken):6.1f}   {min(taken):.1f} to {max(taken):.1f}")


def print_memory(memory: dict[str, int], up: float) -> None:
    print(f"\nThe stack was up after {up:.0f} s. Idle, it holds (MiB, shared pages once)")
    for name, size in memory.items():
        print(f"  {name:<28} {size / MIB:6.0f}")
    print(f"  {'sum of the stack':<28} {stack_memory(memory) / MIB:6.0f}")


def stack_memory(memory: dict[str, int]) -> int:
    return sum(size for name, size in memory.items() if not name.startswith("("))


def print_splits(splits: dict[str, list[Split]]) -> None:
    columns = ("total", "airflow", "start", "session", "work", "end", "gate")
    print("\nFrom trigger to verdict (medians; seconds)")
    print(f"  {'':<20}" + "".join(f"{column:>9}" for column in columns))
    for dag_id, taken in splits.items():
        medians = [statistics.median(getattr(split, column) for split in taken) for column in columns]
        print(f"  {dag_id:<20}" + "".join(f"{median:9.1f}" for median in medians))


def figures(
    ways: dict[str, list[float]], memory: dict[str, int], splits: dict[str, list[Split]]
) -> dict[str, dict[str, object]]:
    """Return every figure with its spread. None has a bar: they are the floor of everything else."""
    found = {f"{dag_id}_seconds": [split.total for split in taken] for dag_id, taken in splits.items()}
    found["idle_stack_mib"] = [stack_memory(memory) / MIB]
    reported = {name: _figure(statistics.median(values), values) for name, values in found.items()}
    for name, taken in ways.items():
        if name != "plain":
            ratio = statistics.median(taken) / statistics.median(ways["plain"])
            by_round = [own / plain for own, plain in zip(taken, ways["plain"], strict=True)]
            reported[f"{name.replace(',', '').replace(' ', '_').lower()}_vs_plain"] = _figure(ratio, by_round)
    return reported


def _figure(value: float, spread: Sequence[float]) -> dict[str, object]:
    limits = [round(min(spread), 2), round(max(spread), 2)]
    return {"value": round(value, 2), "spread": limits, "bar": None, "better": "lower"}


if __name__ == "__main__":
    main()
