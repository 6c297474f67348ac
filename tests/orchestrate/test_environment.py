import json
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.fernet import Fernet

from instar.config import Settings
from instar.orchestrate.environment import airflow_environment, password

DATABASE = "postgresql://somewhere"
SECRETS = ("AIRFLOW__API_AUTH__JWT_SECRET", "AIRFLOW__API__SECRET_KEY", "AIRFLOW__CORE__FERNET_KEY")


def environment(work: Path, port: int = 8081) -> dict[str, str]:
    return airflow_environment(Settings(work_dir=work), DATABASE, port)


def secrets(work: Path) -> list[str]:
    env = environment(work)
    return [*(env[name] for name in SECRETS), password(Settings(work_dir=work))]


def test_airflow_listens_on_this_machine_only(tmp_path: Path) -> None:
    env = environment(tmp_path, 8123)
    assert (env["AIRFLOW__API__HOST"], env["AIRFLOW__API__PORT"]) == ("127.0.0.1", "8123")
    for name in ("AIRFLOW__API__BASE_URL", "AIRFLOW__CORE__EXECUTION_API_SERVER_URL"):
        assert urlsplit(env[name]).netloc == "127.0.0.1:8123"


def test_everything_that_airflow_writes_is_below_the_work_folder(tmp_path: Path) -> None:
    env = environment(tmp_path)
    for name in (
        "AIRFLOW_HOME",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE",
    ):
        assert Path(env[name]).is_relative_to(tmp_path)
    assert env["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] == DATABASE


def test_secrets_stay_the_same_over_calls(tmp_path: Path) -> None:
    assert secrets(tmp_path) == secrets(tmp_path)


def test_secrets_differ_between_work_folders_and_among_themselves(tmp_path: Path) -> None:
    every = secrets(tmp_path / "first") + secrets(tmp_path / "second")
    assert len(set(every)) == len(every)
    assert min(map(len, every)) >= 16


def test_many_that_start_at_once_agree_on_the_secrets_and_leave_no_draft(tmp_path: Path) -> None:
    racers = 8
    for number in range(20):
        work, start = tmp_path / str(number), threading.Barrier(racers)

        def race(work: Path = work, start: threading.Barrier = start) -> list[str]:
            start.wait()
            return secrets(work)

        with ThreadPoolExecutor(racers) as pool:
            seen = [entry.result() for entry in [pool.submit(race) for _ in range(racers)]]
        assert seen == [seen[0]] * racers
        assert {path.name for path in (work / "airflow").iterdir()} == {"secrets.json", "passwords.json"}


def test_the_fernet_key_is_one(tmp_path: Path) -> None:
    Fernet(environment(tmp_path)["AIRFLOW__CORE__FERNET_KEY"])


def test_files_with_secrets_are_for_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        known = secrets(tmp_path)
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    holding = [path for path in files if any(secret in path.read_text() for secret in known)]
    assert {path.name for path in holding} == {"secrets.json", "passwords.json"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in holding} == {0o600}


def test_no_airflow_variable_of_the_caller_leaks_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AIRFLOW__CORE__UNIT_TEST_MODE", "AIRFLOW_CONN_STRANGER", "AIRFLOW_VAR_STRANGER", "AIRFLOW_HOME"):
        monkeypatch.setenv(name, "stranger")
    assert "stranger" not in environment(tmp_path).values()


def test_the_callers_way_to_the_store_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = '{"conn_type": "aws", "extra": {"profile": "lake"}}'
    monkeypatch.setenv("AIRFLOW_CONN_INSTAR_STORE", named)
    assert environment(tmp_path)["AIRFLOW_CONN_INSTAR_STORE"] == named


def test_the_rest_of_the_callers_environment_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "mine")
    env = environment(tmp_path)
    assert (env["AWS_PROFILE"], env["PATH"]) == ("mine", os.environ["PATH"])


def test_the_processes_read_the_settings_that_they_were_started_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSTAR_DRIVER_MEMORY", "9g")
    settings = Settings(work_dir=tmp_path, lake_uri="s3://bucket/lake", api_port=8090, spark_executors=2)
    assert Settings.load(airflow_environment(settings, DATABASE, 8090)) == settings


def test_the_connections_lead_to_spark_and_to_airflow_itself(tmp_path: Path) -> None:
    settings = Settings(work_dir=tmp_path, spark_master="spark://127.0.0.1:7077")
    env = airflow_environment(settings, DATABASE, 8081)
    connections = {name: json.loads(value) for name, value in env.items() if name.startswith("AIRFLOW_CONN_")}
    by_kind = {connection["conn_type"]: connection for connection in connections.values()}
    assert by_kind["spark"]["host"] == "spark://127.0.0.1:7077"
    assert by_kind["http"]["host"] == "http://127.0.0.1:8081"
    assert by_kind["http"]["password"] == password(settings)


def test_great_expectations_reports_to_nobody(tmp_path: Path) -> None:
    assert environment(tmp_path)["GX_ANALYTICS_ENABLED"] == "false"
