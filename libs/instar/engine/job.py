"""Run a Spark job: typed arguments in, a JSON report out, an exit code, and no driver that outlives its task."""

import argparse
import dataclasses
import json
import os
import sys
import threading
import time
import traceback
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import psutil
from pyspark.sql import SparkSession

from instar.engine.session import open_session
from instar.errors import InstarError

A = TypeVar("A")
WATCH_SECONDS = 1.0


def run_job(name: str, argv: Sequence[str], arguments: type[A], body: Callable[[SparkSession, A], Any]) -> int:
    """Parse `argv` into `arguments`, run `body` in a session, write its result as the report, return the exit code.

    A failure is reported too: the reason is in the log and in the report, and the exit code is 1.
    """
    started = time.time()
    parsed, report, parent = _parse(name, argv, arguments)
    if parent is not None:
        end_with(parent)
    seconds: dict[str, float] = {}
    try:
        spark = open_session(name)
        seconds["session"] = time.time() - started
        try:
            result = body(spark, parsed)
            seconds["work"] = time.time() - started - seconds["session"]
        finally:
            spark.stop()
    except InstarError as error:
        print(f"{name} failed: {error}", file=sys.stderr)
        outcome: dict[str, Any] = {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - the boundary: everything becomes a report and an exit code
        traceback.print_exc()
        outcome = {"error": f"{type(error).__name__}: {error}"}
    else:
        outcome = {"result": result}
    if report is not None:
        write_report(report, {"job": name, "started": started, "seconds": seconds, **outcome})
    return 1 if "error" in outcome else 0


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Write a report whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(report))
    draft.replace(path)


def end_with(pid: int) -> None:
    """End this process soon after process `pid` has ended, however it ended."""
    try:
        parent = psutil.Process(pid)
    except psutil.NoSuchProcess:
        os._exit(1)

    def watch() -> None:
        while parent.is_running() and parent.status() != psutil.STATUS_ZOMBIE:
            time.sleep(WATCH_SECONDS)
        print("The task that started this job is gone: ending.", file=sys.stderr, flush=True)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def _parse(name: str, argv: Sequence[str], arguments: type[A]) -> tuple[A, Path | None, int | None]:
    parser = argparse.ArgumentParser(name, allow_abbrev=False)
    parser.add_argument("--report", type=Path, help="where to write the JSON report")
    parser.add_argument("--parent", type=int, help="end when this process ends")
    hints = typing.get_type_hints(arguments)
    for spec in dataclasses.fields(arguments):  # type: ignore[arg-type]
        required = spec.default is dataclasses.MISSING and spec.default_factory is dataclasses.MISSING
        parser.add_argument(
            option(spec.name),
            dest=spec.name,
            type=_converter(hints[spec.name]),
            required=required,
            default=argparse.SUPPRESS,
            help=spec.metadata.get("doc"),
        )
    values = vars(parser.parse_args(argv))
    report, parent = values.pop("report"), values.pop("parent")
    return arguments(**values), report, parent


def option(field: str) -> str:
    """Return the command-line option of a field."""
    return "--" + field.replace("_", "-")


def to_argv(arguments: Mapping[str, Any]) -> list[str]:
    """Return the options that `run_job` parses back into `arguments`: text as it is, the rest as JSON."""
    argv = []
    for field, value in arguments.items():
        plain = dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
        argv += [option(field), plain if isinstance(plain, str) else json.dumps(plain)]
    return argv


def _converter(hint: Any) -> Callable[[str], Any]:
    if hint is str:
        return str

    def convert(text: str) -> Any:
        value = json.loads(text)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return hint(**value)
        origin = typing.get_origin(hint)
        if origin is tuple:
            return tuple(value)
        accepted = (int, float) if hint is float else (origin or hint)
        if not isinstance(value, accepted) or (isinstance(value, bool) and hint is not bool):
            raise ValueError(text)
        return value

    convert.__name__ = getattr(hint, "__name__", str(hint))
    return convert
