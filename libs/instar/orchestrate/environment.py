"""The environment of the embedded Airflow: everything it reads, below the work folder, on 127.0.0.1."""

import contextlib
import dataclasses
import json
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from instar.config import Settings, variable
from instar.orchestrate.resources import API_CONNECTION, SPARK_CONNECTION, STORE_CONNECTION

HOST = "127.0.0.1"
USER = "admin"
_STORE = f"AIRFLOW_CONN_{STORE_CONNECTION.upper()}"


def airflow_environment(settings: Settings, database_url: str, port: int) -> dict[str, str]:
    """Return the environment of every process of the embedded Airflow, a copy of ours with its own settings on top.

    Of the caller's variables for Airflow only the connection that names the way to the store is kept.
    """
    home = settings.work / "airflow"
    kept = _secrets(home)
    url = f"http://{HOST}:{port}"
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("AIRFLOW_") or name == _STORE}
    return {
        **inherited,
        **{variable(f.name): str(getattr(settings, f.name)) for f in dataclasses.fields(settings)},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API_AUTH__JWT_SECRET": kept["jwt"],
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__HOST": HOST,
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__SECRET_KEY": kept["session"],
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        "AIRFLOW__CORE__DAGS_FOLDER": str(settings.home / "dags"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__FERNET_KEY": kept["fernet"],
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(settings.home / "plugins"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(_passwords(home)),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database_url,
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(settings.work / "logs" / "tasks"),
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.1",
        f"AIRFLOW_CONN_{SPARK_CONNECTION.upper()}": json.dumps({"conn_type": "spark", "host": settings.spark_master}),
        f"AIRFLOW_CONN_{API_CONNECTION.upper()}": json.dumps(
            {"conn_type": "http", "host": url, "login": USER, "password": password(settings)}
        ),
        "GX_ANALYTICS_ENABLED": "false",
        "NO_PROXY": f"{HOST},localhost",
    }


def password(settings: Settings) -> str:
    """Return the password of the embedded Airflow's user."""
    stored: dict[str, str] = json.loads(_passwords(settings.work / "airflow").read_text())
    return stored[USER]


def _passwords(home: Path) -> Path:
    return _written_once(home / "passwords.json", lambda: {USER: secrets.token_urlsafe(12)})


def _secrets(home: Path) -> dict[str, str]:
    from cryptography.fernet import Fernet

    path = _written_once(
        home / "secrets.json",
        lambda: {
            "jwt": secrets.token_urlsafe(64),
            "session": secrets.token_urlsafe(32),
            "fernet": Fernet.generate_key().decode(),
        },
    )
    kept: dict[str, str] = json.loads(path.read_text())
    return kept


def _written_once(path: Path, make: Callable[[], dict[str, str]]) -> Path:
    """Make the file, for its owner only, unless it is there. Of many at once the first wins, and all see it whole."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent) as draft:
            json.dump(make(), draft)
            draft.flush()
            with contextlib.suppress(FileExistsError):
                os.link(draft.name, path)
    return path
