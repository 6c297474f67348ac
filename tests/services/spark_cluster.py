"""A real Spark standalone cluster: one master and two workers on 127.0.0.1."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest

from instar.engine.java import find_java
from instar.orchestrate.processes import Process, end_trees, spawn
from tests.services.airflow import ROOT, free_port
from tests.services.s3 import S3Server

HOST = "127.0.0.1"
WORKERS = 2


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster. Each worker keeps what its executors said in `work-<number>/<application>/<executor>`."""

    master: str
    folder: Path

    def work(self, worker: int) -> Path:
        return self.folder / f"work-{worker}"

    def applications(self) -> set[str]:
        """Return the ids of all applications that any worker has had executors of."""
        return {folder.name for worker in range(WORKERS) for folder in self.work(worker).glob("app-*")}


@pytest.fixture(scope="session")
def spark_cluster(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """Run the cluster once. Its workers have the store's credentials in their environment, and nowhere else."""
    folder = tmp_path_factory.mktemp("cluster")
    port = free_port()
    cluster = SparkCluster(f"spark://{HOST}:{port}", folder)
    home = Path(pyspark.__file__).parent
    env = {
        **os.environ,
        **s3_server.environment(),
        "JAVA_HOME": str(find_java(ROOT / ".work").home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
    }
    deploy = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy"]
    ui = ["--webui-port", "0"]
    processes: list[Process] = []

    def start(name: str, kind: str, *arguments: str) -> None:
        command = [deploy[0], f"{deploy[1]}.{kind}", "--host", HOST, *ui, *arguments]
        processes.append(spawn(name, command, env, folder / f"{name}.log", folder))

    try:
        start("master", "master.Master", "--port", str(port))
        _wait_for(port)
        for number in range(WORKERS):
            resources = ["--cores", "1", "--memory", "1g", "--work-dir", str(cluster.work(number))]
            start(f"worker-{number}", "worker.Worker", *resources, cluster.master)
        yield cluster
    finally:
        end_trees([live for process in processes if (live := process.running())])


def _wait_for(port: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no Spark master on port {port} after {seconds} s")
