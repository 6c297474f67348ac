"""A real Spark standalone cluster: one master and two workers on 127.0.0.1."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from instar.engine.java import find_java
from instar.orchestrate.processes import Process, end_trees, spawn
from tests.services.airflow import ROOT, free_port

HOST = "127.0.0.1"
WORKERS = 2


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the cluster once and yield its master's URL. Workers inherit the environment, credentials included."""
    folder = tmp_path_factory.mktemp("cluster")
    port = free_port()
    master = f"spark://{HOST}:{port}"
    home = Path(pyspark.__file__).parent
    env = {
        **os.environ,
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
            work = folder / f"work-{number}"
            start(
                f"worker-{number}", "worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", str(work), master
            )
        yield master
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
