"""Every setting of Instar, from the environment, typed.

Secrets are not settings: store credentials come from the standard AWS chain of each machine.
"""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from instar.errors import InstarError

PREFIX = "INSTAR_"


class InvalidSetting(InstarError):
    """An environment variable that names no setting, or holds what the setting can't take."""


def _setting(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc})


def _checkout() -> Path:
    return Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    """What can be configured. The environment variable of a setting is INSTAR_ and its name in capitals."""

    home: Path = _setting(_checkout(), "Folder that holds dags, spark_jobs and plugins; the checkout by default.")
    work_dir: Path = _setting(
        Path(".work"), "Folder for everything that runs leave behind, relative to home: database, logs, reports, pages."
    )
    lake_uri: str = _setting("", "Root of the lake, file:///… or s3://bucket/prefix; lake in work_dir if empty.")
    s3_profile: str = _setting("", "AWS profile to take credentials from; the default chain if empty.")
    s3_endpoint: str = _setting("", "URL of an S3-compatible server; Amazon's if empty.")
    s3_region: str = _setting("", "Region of the bucket; the profile's if empty.")
    spark_master: str = _setting("local[*]", "Where jobs run: local[n], or spark://host:port.")
    spark_executors: int = _setting(1, "How many executors the master is expected to give; 1 for a local master.")
    spark_connect: str = _setting(
        "", "Spark Connect server, sc://host:port, for jobs that share a session; each gets its own if empty."
    )
    driver_memory: str = _setting("1g", "Heap of a job's driver.")
    api_port: int = _setting(0, "Port of Airflow's UI and API on 127.0.0.1; the first free one from 8080 if 0.")

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings from the environment; refuse what no setting is called."""
        environ = os.environ if environ is None else environ
        known = {variable(f.name): f for f in fields(cls)}
        given = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
        for name in given.keys() - known.keys():
            near = difflib.get_close_matches(name, known, 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
            raise InvalidSetting(f"{name} is set, but is not a setting.", help=hint)
        return cls(**{known[name].name: _parse(name, known[name].type, value) for name, value in given.items()})

    @property
    def work(self) -> Path:
        """Return the work folder as an absolute path."""
        return (self.home / self.work_dir).resolve()

    @property
    def lake(self) -> str:
        return self.lake_uri or (self.work / "lake").as_uri()


def variable(setting: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + setting.upper()


def _parse(name: str, kind: Any, value: str) -> Any:
    if kind is Path:
        return Path(value)
    if kind is int:
        if not value.isascii() or not value.isdigit():
            raise InvalidSetting(f"{name} is {value!r}, which is not a number.", help="Set a whole number from 0.")
        return int(value)
    return value


def reference() -> str:
    """Return the table of settings for the documentation, as Markdown."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for f in fields(Settings):
        default = "" if f.name == "home" else f.default
        shown = f"`{default}`" if default != "" else ""
        rows.append(f"| `{variable(f.name)}` | {shown} | {f.metadata['doc']} |")
    return "\n".join(rows) + "\n"
