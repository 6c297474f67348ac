"""Run a Spark job: typed arguments in, a JSON report out, an exit code, and no driver that outlives its task."""

import argparse
import contextlib
import dataclasses
import json
import os
import sys
import threading
import time
import traceback
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import psutil
from pyspark.sql import SparkSession

from instar.engine.session import open_session
from instar.errors import InstarError

A = TypeVar("A")
WATCH_SECONDS = 1.0


class InvalidArguments(InstarError):
    """Options that do not make a job's arguments. The message leaves values out: they may hold a secret."""


def run_job(name: str, argv: Sequence[str], arguments: type[A], body: Callable[[SparkSession, A], Any]) -> int:
    """Parse `argv` into `arguments`, run `body` in a session, write its result as the report, return the exit code.

    A failure is reported too: the reason is in the log and in the report, and the exit code is 1.
    """
    started = time.time()
    seconds: dict[str, float] = {}
    report, options = _take_report(name, argv)
    try:
        parsed, parent = _parse(name, options, arguments)
        if parent is not None:
            end_with(parent)
        spark = open_session(name)
        seconds["session"] = time.time() - started
        try:
            result = json.loads(json.dumps(body(spark, parsed)))
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
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end between the two questions
            while parent.is_running() and parent.status() != psutil.STATUS_ZOMBIE:
                time.sleep(WATCH_SECONDS)
        print("The task that started this job is gone: ending.", file=sys.stderr, flush=True)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


class _Parser(argparse.ArgumentParser):
    """Raise what is wrong with the options."""

    def error(self, message: str) -> NoReturn:
        raise InvalidArguments(f"{message.rstrip('.')}.", help="The option --help lists what it takes.")


def _take_report(name: str, argv: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return where the report goes, which must be known before the rest can be refused, and the rest."""
    parser = argparse.ArgumentParser(name, allow_abbrev=False, add_help=False)
    parser.add_argument("--report", type=Path)
    known, rest = parser.parse_known_args(argv)
    return known.report, rest


def _parse(name: str, argv: Sequence[str], arguments: type[A]) -> tuple[A, int | None]:
    parser = _Parser(name, allow_abbrev=False, epilog="--report PATH says where to write the JSON report.")
    parser.add_argument("--parent", type=_converter(int), help="end when this process ends")
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
    known, stray = parser.parse_known_args(argv)
    if stray:
        unheard = [word.partition("=")[0] for word in stray if word.startswith("-")]
        parser.error(f"there is no option {', '.join(unheard)}" if unheard else "there is a value without an option")
    values = vars(known)
    parent = values.pop("parent")
    return arguments(**values), parent


def option(field: str) -> str:
    """Return the command-line option of a field."""
    return "--" + field.replace("_", "-")


def to_argv(arguments: Mapping[str, Any]) -> list[str]:
    """Return the options that `run_job` parses back into `arguments`: text as it is, the rest as JSON."""
    argv = []
    for field, value in arguments.items():
        plain = dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
        # One word: a value that starts with a dash would be taken for an option.
        argv.append(f"{option(field)}={plain if isinstance(plain, str) else json.dumps(plain)}")
    return argv


def _converter(hint: Any) -> Callable[[str], Any]:
    if hint is str:
        return str

    def convert(text: str) -> Any:
        try:
            return _typed(hint, json.loads(text))
        except InstarError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except (TypeError, ValueError):
            raise argparse.ArgumentTypeError(f"not {getattr(hint, '__name__', hint)} as JSON") from None

    return convert


def _typed(hint: Any, value: Any) -> Any:
    """Return a JSON value as the type that `hint` names, or raise ValueError."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple and isinstance(value, list):  # tuple[T, ...]
        return tuple(_typed(inner[0], item) for item in value)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _typed(next(kind for kind in inner if kind is not type(None)), value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, dict):
        hints = typing.get_type_hints(hint)
        if unknown := value.keys() - hints.keys():
            raise ValueError(unknown)
        return hint(**{name: _typed(hints[name], item) for name, item in value.items()})
    accepted = (int, float) if hint is float else hint
    if origin is not None or not isinstance(value, accepted) or (isinstance(value, bool) and hint is not bool):
        raise ValueError(value)
    return value
