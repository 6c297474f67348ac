"""A real S3 server for tests and benchmarks."""

import contextlib
import os
import secrets
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from instar.storage.config import StoreConfig, open_store
from instar.storage.protocol import StoreError

_STARTS = 3
_START_SECONDS = 30
_STOP_SECONDS = 15
_GRPC_OFFSET = 10_000  # the server's parts find each other at this distance
_SERVICES = ("master", "volume", "filer", "s3", "admin")


class ServerNotStarted(Exception):
    """The server did not answer in time; its log is the message."""


@dataclass(frozen=True)
class S3Server:
    """A running server with one empty bucket."""

    endpoint: str
    access_key: str
    secret_key: str = field(repr=False)
    bucket: str = "instar"
    region: str = "us-east-1"

    def config(self, prefix: str) -> StoreConfig:
        """Return the configuration of a store below `prefix`."""
        return StoreConfig(f"s3://{self.bucket}/{prefix}", endpoint=self.endpoint, region=self.region)

    def environment(self) -> dict[str, str]:
        """Return the variables from which AWS's libraries take the credentials."""
        return {
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@contextlib.contextmanager
def run_s3_server(folder: Path) -> Iterator[S3Server]:
    """Run SeaweedFS on free ports of 127.0.0.1 with its data in `folder`, and stop it at the end."""
    for attempt in range(1, _STARTS + 1):
        server, process = _start(folder / str(attempt))
        try:
            _wait_until_ready(server, process, folder / str(attempt))
        except ServerNotStarted:  # another process may have taken a port in between
            _stop(process)
            if attempt == _STARTS:
                raise
            continue
        break
    try:
        yield server
    finally:
        _stop(process)


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with run_s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


def _start(folder: Path) -> tuple[S3Server, "subprocess.Popen[bytes]"]:
    (folder / "data").mkdir(parents=True)
    ports = dict(zip(_SERVICES, _free_ports(len(_SERVICES)), strict=True))
    server = S3Server(f"http://127.0.0.1:{ports['s3']}", "instar", secrets.token_hex(16))
    arguments = [f"-{name}.port={port}" for name, port in ports.items()]
    arguments += [f"-{name}.port.grpc={port + _GRPC_OFFSET}" for name, port in ports.items()]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                Path(sysconfig.get_path("scripts")) / "weed",
                "mini",
                "-ip=127.0.0.1",
                "-ip.bind=127.0.0.1",
                f"-dir={folder / 'data'}",
                f"-bucket={server.bucket}",
                "-master.telemetry=false",
                "-webdav=false",
                "-admin.ui=false",
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                *arguments,
            ],
            env=server.environment() | {"HOME": str(folder), "PATH": os.environ.get("PATH", "")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C is for the tests, which stop the server in their own order
        )
    return server, process


def _wait_until_ready(server: S3Server, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Return once the server takes a signed put, which a server of somebody else would not."""
    deadline = time.monotonic() + _START_SECONDS
    with pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        store = open_store(server.config("started"))
    while process.poll() is None and time.monotonic() < deadline:
        try:
            store.put("ready", b"")
            store.delete(["ready"])
        except StoreError:
            time.sleep(0.05)
        else:
            return
    raise ServerNotStarted((folder / "log").read_text(errors="replace")[-4_000:])


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_ports(count: int) -> list[int]:
    """Return ports that are free together with their gRPC twins, below those that the system gives to clients."""
    found: list[int] = []
    while len(found) < count:
        port = 11_000 + secrets.randbelow(11_000)
        if port not in found and _is_free(port) and _is_free(port + _GRPC_OFFSET):
            found.append(port)
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
