import contextlib
import pickle
import socket
from collections.abc import Callable, Iterator

import pytest

from instar.storage.config import StoreConfig, open_store
from instar.storage.protocol import (
    AlreadyExists,
    DidNotHappen,
    InvalidKey,
    MayHaveHappened,
    NotFound,
    Store,
    StoreError,
    Throttled,
)
from instar.storage.s3 import InvalidBucket, S3Store, UnknownProfile, listing_bound
from tests.services.s3 import S3Server
from tests.storage.faulty_http import Answer, FaultyHttp, Trouble, run_faulty_http

OK = Answer(200)
LOST = Answer(412, "PreconditionFailed")
CONFLICT = Answer(409, "ConditionalRequestConflict")
SLOW_DOWN = Answer(503, "SlowDown")
BROKEN = Answer(500, "InternalError")
DENIED = Answer(403, "AccessDenied")
NO_BUCKET = Answer(404, "NoSuchBucket")
MOST_ATTEMPTS = 7


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


def store_at(endpoint: str, pauses: list[float] | None = None) -> S3Store:
    config = StoreConfig("s3://bucket/lake", endpoint=endpoint, region="us-east-1")
    return S3Store(config, timeout_seconds=0.5, pause=(pauses if pauses is not None else []).append)


@contextlib.contextmanager
def scripted(*script: Answer | Trouble) -> Iterator[tuple[S3Store, FaultyHttp]]:
    with run_faulty_http(*script) as server:
        yield store_at(server.endpoint), server


def test_a_conditional_put_says_so_in_its_only_request() -> None:
    with scripted(OK) as (store, server):
        store.put_if_absent("log/1", b"data")
    [(method, path, headers)] = server.requests
    assert (method, path) == ("PUT", "/bucket/lake/log/1")
    assert headers["If-None-Match"] == "*"
    assert headers["Content-Length"] == "4"


def test_an_unconditional_put_has_no_condition() -> None:
    with scripted(OK) as (store, server):
        store.put("data/1", b"data")
    assert "If-None-Match" not in server.requests[0][2]


@pytest.mark.parametrize(
    ("script", "expected", "requests"),
    [
        ([LOST], AlreadyExists, 1),
        ([CONFLICT, OK], None, 2),
        ([CONFLICT, LOST], AlreadyExists, 2),
        ([CONFLICT], DidNotHappen, MOST_ATTEMPTS),
        ([SLOW_DOWN, SLOW_DOWN, OK], None, 3),
        ([SLOW_DOWN], Throttled, MOST_ATTEMPTS),
        ([Answer(429, "TooManyRequests")], Throttled, MOST_ATTEMPTS),
        ([BROKEN, LOST], MayHaveHappened, 1),
        ([Answer(503, "ServiceUnavailable"), LOST], MayHaveHappened, 1),
        ([Answer(502), LOST], MayHaveHappened, 1),
        ([Trouble.DROP, LOST], MayHaveHappened, 1),
        ([Trouble.HANG, LOST], MayHaveHappened, 1),
        ([CONFLICT, Trouble.DROP, LOST], MayHaveHappened, 2),
        ([DENIED], DidNotHappen, 1),
        ([NO_BUCKET], DidNotHappen, 1),
        ([Answer(501, "NotImplemented")], DidNotHappen, 1),
    ],
)
def test_a_put_if_absent_is_repeated_only_where_it_was_refused(
    script: list[Answer | Trouble], expected: type[StoreError] | None, requests: int
) -> None:
    with scripted(*script) as (store, server):
        if expected is None:
            store.put_if_absent("log/1", b"data")
        else:
            with pytest.raises(expected) as caught:
                store.put_if_absent("log/1", b"data")
            assert type(caught.value) is expected or expected is DidNotHappen
            assert "s3://bucket/lake/log/1" in str(caught.value)
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("script", "expected", "requests"),
    [
        ([BROKEN, Trouble.DROP, SLOW_DOWN, OK], None, 4),
        ([Trouble.HANG, OK], None, 2),
        ([BROKEN], MayHaveHappened, MOST_ATTEMPTS),
        ([BROKEN, DENIED], MayHaveHappened, 2),
        ([SLOW_DOWN, DENIED], DidNotHappen, 2),
    ],
)
@pytest.mark.parametrize("operation", ["put", "delete"])
def test_repeatable_writes_are_repeated_and_stay_unknown_once_they_were(
    operation: str, script: list[Answer | Trouble], expected: type[StoreError] | None, requests: int
) -> None:
    # A delete's success is an empty result, which the same bytes are to a put.
    script = [Answer(200, body=b"<DeleteResult></DeleteResult>") if step is OK else step for step in script]
    with scripted(*script) as (store, server):
        attempts: dict[str, Callable[[], None]] = {
            "put": lambda: store.put("data/1", b"data"),
            "delete": lambda: store.delete(["data/1"]),
        }
        if expected is None:
            attempts[operation]()
        else:
            with pytest.raises(expected):
                attempts[operation]()
    assert len(server.requests) == requests


def test_a_refused_connection_did_not_happen() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # taken, but nobody listens
        store = store_at(f"http://127.0.0.1:{closed.getsockname()[1]}")
        for put in (store.put_if_absent, store.put):
            with pytest.raises(DidNotHappen, match="endpoint"):
                put("log/1", b"")


def test_pauses_grow_between_attempts() -> None:
    pauses: list[float] = []
    with run_faulty_http(SLOW_DOWN) as server, pytest.raises(Throttled):
        store_at(server.endpoint, pauses).put_if_absent("log/1", b"")
    assert len(pauses) == MOST_ATTEMPTS - 1
    assert pauses == sorted(pauses)


def test_a_read_is_repeated_until_it_succeeds() -> None:
    with scripted(BROKEN, Trouble.DROP, Answer(200, body=b"data")) as (store, server):
        assert store.get("data/1") == b"data"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(404, "NoSuchKey"), NotFound),
        (NO_BUCKET, DidNotHappen),
        (DENIED, DidNotHappen),
        (Answer(200, body=b"data" * 100, sent=7), DidNotHappen),
    ],
)
def test_a_failed_read_says_why(answer: Answer, expected: type[StoreError]) -> None:
    with scripted(answer) as (store, _), pytest.raises(expected):
        store.get("data/1")


def test_a_missing_bucket_is_not_a_missing_object() -> None:
    with scripted(NO_BUCKET) as (store, _):
        with pytest.raises(DidNotHappen, match="Create the bucket"):
            store.get("data/1")
        with pytest.raises(DidNotHappen, match="Create the bucket"):
            list(store.list(""))


def test_objects_that_could_not_be_deleted_are_named() -> None:
    body = (
        b"<DeleteResult><Error><Key>lake/b</Key><Code>AccessDenied</Code><Message>No</Message></Error></DeleteResult>"
    )
    with scripted(Answer(200, body=body)) as (store, _), pytest.raises(MayHaveHappened, match=r"1 of 2 .*lake/b: No"):
        store.delete(["a", "b"])


def test_missing_credentials_did_not_happen(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("AWS_CONFIG_FILE", f"{tmp_path}/none")
    store = store_at("http://127.0.0.1:9")
    with pytest.raises(DidNotHappen, match="credentials"):
        store.put_if_absent("log/1", b"")
    with pytest.raises(DidNotHappen, match="credentials"):
        store.open_input("log/1")


def test_secrets_are_in_no_text_of_the_store() -> None:
    with scripted(DENIED) as (store, _):
        with pytest.raises(DidNotHappen) as caught:
            store.put("data/1", b"")
        texts = [str(caught.value), repr(store), store.uri, repr(pickle.dumps(store))]
    assert not any("wJalrXUtnFEMI" in text for text in texts)


@pytest.mark.parametrize("uri", ["s3://", "s3:///prefix"])
def test_a_uri_without_a_bucket_is_refused(uri: str) -> None:
    with pytest.raises(InvalidBucket):
        S3Store(StoreConfig(uri))


def test_a_prefix_that_could_escape_is_refused() -> None:
    with pytest.raises(InvalidKey):
        S3Store(StoreConfig("s3://bucket/a/../b"))


@pytest.mark.parametrize(
    ("prefix", "start_after", "bound"),
    [
        ("log/", "log/00000000000000000042.transaction", "log/0000000000000000004"),
        ("log/", "log/7.transaction", "log/"),
        ("", "a-b", ""),
        ("", "a/b", "a/"),
        ("", "a/-b", ""),
        ("a", "a", ""),
        ("a", "a-b", ""),
        ("a", "ab", "a"),
        ("my-writer/", "my-writer/db/x", "my-writer/db/"),
        ("log/", "elsewhere", ""),
        ("log/", "", ""),
    ],
)
def test_a_listing_starts_where_all_servers_agree_on_the_order(prefix: str, start_after: str, bound: str) -> None:
    assert listing_bound(prefix, start_after) == bound


@pytest.fixture
def real(s3: S3Server, request: pytest.FixtureRequest) -> Store:
    return open_store(s3.config(f"test s3/{request.node.name}"))


@pytest.mark.s3
def test_listings_and_deletes_go_beyond_one_page(real: Store) -> None:
    keys = [f"log/{number:05}" for number in range(1_003)]
    for key in keys:
        real.put(key, b"")
    assert [info.key for info in real.list("log/")] == keys
    assert [info.key for info in real.list("log/", keys[1])] == keys[2:]
    real.delete(keys)
    assert list(real.list("")) == []


@pytest.mark.s3
def test_a_pickled_store_is_opened_anew(real: Store) -> None:
    real.put("object", b"here")
    again = pickle.loads(pickle.dumps(real))
    assert again.get("object") == b"here"
    assert again.uri == real.uri


@pytest.mark.s3
def test_wrong_credentials_are_told_apart_from_missing_objects(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    store = open_store(s3.config("wrong"))
    for attempt in (lambda: store.get("object"), lambda: store.put("object", b""), lambda: store.open_input("object")):
        with pytest.raises(DidNotHappen):
            attempt()


@pytest.mark.s3
def test_credentials_come_from_a_profile(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("aws")
    (folder / "credentials").write_text(
        f"[lake]\naws_access_key_id = {s3_server.access_key}\naws_secret_access_key = {s3_server.secret_key}\n"
    )
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    config = StoreConfig(f"s3://{s3_server.bucket}/by-profile", profile="lake", endpoint=s3_server.endpoint)
    store = open_store(config)
    store.put("object", b"here")
    with store.open_input("object") as file:
        assert file.read() == b"here"
    assert s3_server.secret_key not in repr(config)


@pytest.mark.s3
def test_a_missing_bucket_is_named(s3: S3Server) -> None:
    store = open_store(StoreConfig("s3://no-such-bucket/lake", endpoint=s3.endpoint, region=s3.region))
    with pytest.raises(DidNotHappen, match="Create the bucket"):
        store.get("object")


def test_a_profile_that_the_machine_lacks_is_named() -> None:
    with pytest.raises(UnknownProfile, match=r"nobody.*AWS configuration"):
        open_store(StoreConfig("s3://bucket", profile="nobody"))
