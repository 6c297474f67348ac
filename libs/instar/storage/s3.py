"""A store in an S3 bucket.

Writes are single requests that botocore does not repeat: a repeated conditional put could meet its own object and take
its success for a loss. Repetition is decided here, by what is known of the outcome. Parquet is read by pyarrow's own
client, which gets its credentials from the same session.
"""

import builtins
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import boto3
import pyarrow as pa
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ProfileNotFound
from pyarrow import fs

from instar.storage.config import StoreConfig
from instar.storage.keys import check_key, check_prefix, check_range, is_key
from instar.storage.protocol import DidNotHappen, MayHaveHappened, NotFound, ObjectInfo, StoreError, Throttled
from instar.storage.s3_errors import Conflicted, is_past_the_end, read_error, write_error

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client  # types only; not there in production
    from mypy_boto3_s3.type_defs import DeleteTypeDef, ErrorTypeDef

_DELETED_AT_ONCE = 1000
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
_AMAZON = (".amazonaws.com", ".amazonaws.com.cn")


class InvalidBucket(StoreError):
    """A URI without a bucket, or with a prefix that is no key."""


class UnknownProfile(StoreError):
    """An AWS profile that this machine does not have."""


class S3Store:
    """Keep each object under a prefix of a bucket. Pickled as its configuration, and opened anew."""

    def __init__(
        self, config: StoreConfig, *, timeout_seconds: float = 60, pause: Callable[[float], None] = time.sleep
    ) -> None:
        parts = urlsplit(config.uri, allow_fragments=False)
        self._bucket = parts.netloc
        self._prefix = config.uri.removeprefix(f"s3://{parts.netloc}").strip("/")
        if not self._bucket:
            raise InvalidBucket(f"{config.uri!r} names no bucket.", help="Write s3://bucket/prefix.")
        if self._prefix:
            self._prefix = f"{check_key(self._prefix)}/"
        self._config = config
        self._pause = pause
        try:
            self._session = boto3.Session(profile_name=config.profile, region_name=config.region)
        except ProfileNotFound as error:
            raise UnknownProfile(f"{error}.", help="Add it to the AWS configuration of this machine.") from error
        self._region = self._session.region_name or "us-east-1"
        self._reader = self._client(timeout_seconds, attempts=5)
        self._writer = self._client(timeout_seconds, attempts=1)
        self._arrow: tuple[object, fs.S3FileSystem] | None = None

    def __reduce__(self) -> tuple[type["S3Store"], tuple[StoreConfig]]:
        return S3Store, (self._config,)

    @property
    def uri(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def get(self, key: str) -> bytes:
        path = self._path(key)
        try:
            return self._reader.get_object(Bucket=self._bucket, Key=path)["Body"].read()
        except (BotoCoreError, ClientError) as error:
            raise read_error(error, self._name(key)) from error

    def get_range(self, key: str, start: int, length: int) -> bytes:
        check_range(start, length)
        path = self._path(key)
        try:
            if length == 0:  # HTTP has no empty range
                self._reader.head_object(Bucket=self._bucket, Key=path)
                return b""
            wanted = f"bytes={start}-{start + length - 1}"
            return self._reader.get_object(Bucket=self._bucket, Key=path, Range=wanted)["Body"].read()
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, ClientError) and is_past_the_end(error):
                return b""
            raise read_error(error, self._name(key)) from error

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        self._write(
            self._name(key),
            lambda: self._writer.put_object(Bucket=self._bucket, Key=path, Body=data),
            repeatable=True,
        )

    def put_if_absent(self, key: str, data: bytes) -> None:
        path = self._path(key)
        self._write(
            self._name(key),
            lambda: self._writer.put_object(Bucket=self._bucket, Key=path, Body=data, IfNoneMatch="*"),
            repeatable=False,
        )

    def list(self, prefix: str, start_after: str = "") -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        if start_after > prefix and not start_after.startswith(prefix):
            return iter(())  # all keys with the prefix are smaller
        return iter(self._listed(prefix, start_after))

    def delete(self, keys: Iterable[str]) -> None:
        paths = [self._path(key) for key in keys]
        for start in range(0, len(paths), _DELETED_AT_ONCE):
            self._delete_some(paths[start : start + _DELETED_AT_ONCE])

    def open_input(self, key: str) -> pa.NativeFile:
        path = f"{self._bucket}/{self._path(key)}"
        try:
            return self._file_system().open_input_file(path)
        except FileNotFoundError:
            raise NotFound(f"{self._name(key)} does not exist.") from None
        except OSError as error:
            raise DidNotHappen(f"{self._name(key)} can't be opened: {error}") from error

    def _path(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _name(self, key: str) -> str:
        return f"s3://{self._bucket}/{self._prefix}{key}"

    def _client(self, timeout_seconds: float, *, attempts: int) -> "S3Client":
        return self._session.client(
            "s3",
            endpoint_url=self._config.endpoint,
            region_name=self._region,
            config=Config(
                connect_timeout=min(timeout_seconds, 10),
                read_timeout=timeout_seconds,
                retries={"total_max_attempts": attempts, "mode": "standard"},
                max_pool_connections=64,
                s3={"addressing_style": "path" if self._config.endpoint else "auto"},
                # Not every server knows the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
        )

    def _write(self, what: str, request: Callable[[], object], *, repeatable: bool) -> None:
        """Send `request`, and again where the server refused it for now.

        One that may have happened is sent again only if it is `repeatable`; should that fail too, the outcome stays
        unknown, whatever the last answer was.
        """
        unknown: MayHaveHappened | None = None
        for pause in (*_PAUSES, None):
            try:
                request()
            except (BotoCoreError, ClientError) as error:
                failure = write_error(error, what)
                if isinstance(failure, MayHaveHappened):
                    unknown = failure
                passing = (Throttled, Conflicted, MayHaveHappened) if repeatable else (Throttled, Conflicted)
                if pause is None or not isinstance(failure, passing):
                    raise unknown or failure from error
                self._pause(pause)
            else:
                return

    def _listed(self, prefix: str, start_after: str) -> builtins.list[ObjectInfo]:
        """Return the whole listing in the order of keys, which is not the order of every server."""
        found = []
        bound = self._prefix + listing_bound(prefix, start_after)
        pages = self._reader.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix, StartAfter=bound
        )
        try:
            for page in pages:
                for item in page.get("Contents", ()):
                    key = item["Key"].removeprefix(self._prefix)
                    if key > start_after and is_key(key):
                        found.append(ObjectInfo(key, item["Size"], round(item["LastModified"].timestamp() * 1e6)))
        except (BotoCoreError, ClientError) as error:
            raise read_error(error, self._name(prefix)) from error
        return sorted(found, key=lambda info: info.key)

    def _delete_some(self, paths: builtins.list[str]) -> None:
        doomed: DeleteTypeDef = {"Objects": [{"Key": path} for path in paths], "Quiet": True}
        refused: builtins.list[ErrorTypeDef] = []

        def request() -> None:
            refused[:] = self._writer.delete_objects(Bucket=self._bucket, Delete=doomed).get("Errors", [])

        self._write(f"One of s3://{self._bucket}/{paths[0]} and {len(paths) - 1} more", request, repeatable=True)
        if refused:
            raise MayHaveHappened(
                f"{len(refused)} of {len(paths)} objects were not deleted, first s3://{self._bucket}/"
                f"{refused[0].get('Key')}: {refused[0].get('Message')}.",
                help="Delete them again.",
            )

    def _file_system(self) -> fs.S3FileSystem:
        """Return pyarrow's client, made anew when the session's credentials have changed."""
        credentials = self._session.get_credentials()
        if credentials is None:
            raise DidNotHappen("There are no credentials for S3.", help="Set a profile, or AWS_ACCESS_KEY_ID.")
        frozen = credentials.get_frozen_credentials()
        if self._arrow is None or self._arrow[0] != frozen:
            endpoint = urlsplit(self._reader.meta.endpoint_url)
            of_amazon = (endpoint.hostname or "").endswith(_AMAZON)
            client = fs.S3FileSystem(
                access_key=frozen.access_key,
                secret_key=frozen.secret_key,
                session_token=frozen.token,
                region=self._region,
                scheme=endpoint.scheme,
                endpoint_override=None if of_amazon else endpoint.netloc,
            )
            self._arrow = (frozen, client)
        return self._arrow[1]


def listing_bound(prefix: str, start_after: str) -> str:
    """Return a key to start a listing after, such that no server leaves out a key greater than `start_after`.

    Some servers order keys by segments, where `a/b` comes before `a-b` (in bytes it comes after), and pass over the
    folder `a` when they start after `a`. Both are harmless at a cut of `start_after` with no character below `/` behind
    the prefix and one above `/` next: whatever lies in a folder of that name is smaller than `start_after` too.
    """
    if not start_after.startswith(prefix):
        return ""
    bound = ""
    for position in range(len(prefix), len(start_after)):
        if start_after[position] < "/":
            break
        if start_after[position] > "/":
            bound = start_after[:position]
    return bound
