"""A client of Airflow's REST API: as much of it as Instar uses."""

import time
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from instar.errors import InstarError

FINISHED = frozenset({"success", "failed"})


class RunTimedOut(InstarError):
    """A DAG run did not finish in time."""


class AirflowApi:
    """Airflow's public API, logged in as one user."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=30, trust_env=False)
        self.url = url
        self._login = {"username": user, "password": password}

    def __enter__(self) -> Self:
        answer = self._client.post("/auth/token", json=self._login)
        answer.raise_for_status()
        self._client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def request(self, method: str, path: str, **kwargs: Any) -> Any:
        """Call the API; raise for an error status; return the JSON body."""
        answer = self._client.request(method, f"/api/v2{path}", **kwargs)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def page(self, path: str) -> httpx.Response:
        """Get a page of the web server as this user, whatever its status."""
        return self._client.get(path)

    def unhealthy(self) -> list[str]:
        """Return the components that don't say that they are healthy."""
        components = self.request("GET", "/monitor/health")
        return sorted(name for name, state in components.items() if (state or {}).get("status") != "healthy")

    def dags(self) -> set[str]:
        return {dag["dag_id"] for dag in self.request("GET", "/dags", params={"limit": 100})["dags"]}

    def import_errors(self) -> list[str]:
        return [error["stack_trace"] for error in self.request("GET", "/importErrors")["import_errors"]]

    def pools(self) -> set[str]:
        return {pool["name"] for pool in self.request("GET", "/pools", params={"limit": 100})["pools"]}

    def variable(self, key: str) -> str | None:
        """Return the text of a Variable, None where there is none."""
        answer = self._client.get(_variable_path(key))
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        answer.raise_for_status()
        return str(answer.json()["value"])

    def set_variable(self, key: str, text: str) -> None:
        """Write a Variable, a new one where there is none."""
        body = {"key": key, "value": text}
        answer = self._client.patch(_variable_path(key), params={"update_mask": "value"}, json=body)
        if answer.status_code == httpx.codes.NOT_FOUND:
            answer = self._client.post("/api/v2/variables", json=body)
        answer.raise_for_status()

    def delete_variable(self, key: str) -> None:
        """Remove a Variable, if it is there."""
        answer = self._client.delete(_variable_path(key))
        if answer.status_code != httpx.codes.NOT_FOUND:
            answer.raise_for_status()

    def trigger(self, dag_id: str, conf: dict[str, Any] | None = None) -> str:
        """Unpause a DAG, start a run of it and return the run's id."""
        self.request("PATCH", f"/dags/{dag_id}", params={"update_mask": "is_paused"}, json={"is_paused": False})
        run = self.request("POST", f"/dags/{dag_id}/dagRuns", json={"logical_date": None, "conf": conf or {}})
        return str(run["dag_run_id"])

    def run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.request("GET", f"/dags/{dag_id}/dagRuns/{run_id}")
        return answer

    def wait(self, dag_id: str, run_id: str, timeout: float = 600, interval: float = 0.25) -> str:
        """Wait until the run has finished and return its state."""
        deadline = time.monotonic() + timeout
        while (state := self.run(dag_id, run_id)["state"]) not in FINISHED:
            if time.monotonic() > deadline:
                tasks = {task["task_id"]: task["state"] for task in self.tasks(dag_id, run_id)}
                raise RunTimedOut(f"{dag_id} {run_id} is still {state} after {timeout:.0f} s: {tasks}.")
            time.sleep(interval)
        return str(state)

    def tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        answer = self.request("GET", f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances")
        return list(answer["task_instances"])

    def task(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.request("GET", f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}")
        return answer

    def fail_task(self, dag_id: str, run_id: str, task_id: str) -> None:
        """Mark a task failed, as the UI does."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}"
        self.request("PATCH", path, params={"update_mask": "new_state"}, json={"new_state": "failed"})

    def log(self, dag_id: str, run_id: str, task_id: str, attempt: int = 1, map_index: int = -1) -> str:
        """Return a task's log as plain lines."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/logs/{attempt}"
        content = self.request("GET", path, params={"full_content": "true", "map_index": map_index})["content"]
        return "\n".join(_line(entry) for entry in content)

    def result(self, dag_id: str, run_id: str, task_id: str, key: str = "return_value", *, map_index: int = -1) -> Any:
        """Return what a task returned, or stored under another key."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/xcomEntries/{key}"
        return self.request("GET", path, params={"deserialize": "false", "map_index": map_index})["value"]


def _variable_path(key: str) -> str:
    return f"/api/v2/variables/{quote(key, safe='')}"


def _line(entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    details = entry.get("error_detail") or []
    errors = "".join(f"\n{detail.get('exc_type')}: {detail.get('exc_value')}" for detail in details)
    return f"{entry.get('event', '')}{errors}"
