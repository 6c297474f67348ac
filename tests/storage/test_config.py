import pickle
from pathlib import Path

import pytest

from instar.storage.config import StoreConfig, UnsupportedStore, open_store
from instar.storage.local import LocalStore
from instar.storage.s3 import S3Store


def test_the_scheme_chooses_the_store(tmp_path: Path) -> None:
    assert isinstance(open_store(StoreConfig(tmp_path.as_uri())), LocalStore)
    assert isinstance(open_store(StoreConfig("s3://bucket/lake", region="eu-west-1")), S3Store)


def test_the_root_is_told_without_a_slash_at_its_end(tmp_path: Path) -> None:
    assert open_store(StoreConfig(f"{tmp_path.as_uri()}/")).uri == tmp_path.as_uri()
    assert open_store(StoreConfig("s3://bucket/lake/")).uri == "s3://bucket/lake"
    assert open_store(StoreConfig("s3://bucket/")).uri == "s3://bucket"


@pytest.mark.parametrize("uri", ["", "/data/lake", "gs://bucket/lake", "s3a://bucket/lake", "data/lake"])
def test_other_schemes_are_refused_with_the_ones_that_work(uri: str) -> None:
    with pytest.raises(UnsupportedStore, match="file:///folder or s3://bucket"):
        open_store(StoreConfig(uri))


@pytest.mark.parametrize(
    ("uri", "endpoint"),
    [("s3://key:hunter2@bucket/lake", None), ("s3://bucket/lake", "https://key:hunter2@127.0.0.1:9000")],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(uri: str, endpoint: str | None) -> None:
    with pytest.raises(UnsupportedStore) as caught:
        StoreConfig(uri, endpoint=endpoint)
    assert "hunter2" not in str(caught.value)


def test_a_configuration_travels_to_other_processes() -> None:
    config = StoreConfig("s3://bucket/lake", profile="lake", endpoint="http://127.0.0.1:9000", region="eu-west-1")
    assert pickle.loads(pickle.dumps(config)) == config
