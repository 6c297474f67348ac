"""What every store promises, tried on each of them."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from instar.storage.protocol import AlreadyExists, InvalidKey, InvalidRange, NotFound, Store
from tests.storage.strategies import KEY_SETS, KEYS

ESCAPES = [
    "",
    "/",
    "/absolute",
    "folder/",
    "two//slashes",
    ".",
    "..",
    "../outside",
    "a/../../outside",
    "a/..",
    "a/./b",
    "nul\0byte",
    "new\nline",
    "back\\slash",
    "..\\outside",
    "lone\udc80surrogate",
    "s" * 256,
    "/".join(["s" * 200] * 6),
    ".instar-temporary/mine",
]
ODD_KEYS = [
    "plain",
    "deep/er/and/deeper/still",
    "with space/and  two",
    "100%/%2e%2e/%2F",
    "plus+and=equals&more?query#fragment",
    "..hidden/...",
    "ünïcödé/é",
    "e\u0301",  # two code points that would normalise to the one above
    "雪/😀",
    "colon:and*star|'quotes\"<>",
    "data.parquet#1",
]


def keys_of(store: Store, prefix: str = "", start_after: str = "") -> list[str]:
    return [info.key for info in store.list(prefix, start_after)]


def test_what_was_put_is_read_back(store: Store) -> None:
    store.put("folder/object", b"\x00\xffbytes")
    assert store.get("folder/object") == b"\x00\xffbytes"


def test_an_empty_object_is_an_object(store: Store) -> None:
    store.put("empty", b"")
    assert store.get("empty") == b""
    assert store.get_range("empty", 0, 10) == b""
    assert [(info.key, info.size) for info in store.list("")] == [("empty", 0)]
    with pytest.raises(AlreadyExists):
        store.put_if_absent("empty", b"more")


def test_put_replaces_what_was_there(store: Store) -> None:
    store.put("object", b"old and longer")
    store.put("object", b"new")
    assert store.get("object") == b"new"


@pytest.mark.parametrize("key", ODD_KEYS)
def test_odd_keys_pass_through_unchanged(store: Store, key: str) -> None:
    store.put_if_absent(key, key.encode())
    assert store.get(key) == key.encode()
    assert keys_of(store) == [key]
    with store.open_input(key) as file:
        assert file.read() == key.encode()
    store.delete([key])
    assert keys_of(store) == []


def test_keys_that_would_normalise_to_one_are_two(store: Store) -> None:
    store.put("é", b"one code point")
    store.put_if_absent("e\u0301", b"two code points")
    assert store.get("é") == b"one code point"
    assert keys_of(store) == ["e\u0301", "é"]


@pytest.mark.parametrize("key", ESCAPES)
def test_keys_that_could_escape_are_refused_by_every_operation(store: Store, key: str) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: store.get(key),
        lambda: store.get_range(key, 0, 1),
        lambda: store.put(key, b""),
        lambda: store.put_if_absent(key, b""),
        lambda: store.delete(["fine", key]),
        lambda: store.open_input(key),
    ]
    store.put("fine", b"")
    for attempt in attempts:
        with pytest.raises(InvalidKey):
            attempt()
    assert keys_of(store) == ["fine"], "an invalid key among others deletes nothing"


@pytest.mark.parametrize("prefix", ["/", "../", "a/../b", "a//", "nul\0", "back\\"])
def test_prefixes_that_could_escape_are_refused_at_the_call(store: Store, prefix: str) -> None:
    with pytest.raises(InvalidKey):
        store.list(prefix)


def test_a_missing_object_is_not_found_by_any_read(store: Store) -> None:
    store.put("folder/object", b"")
    for key in ("missing", "folder", "folder/missing", "no/such/folder"):
        with pytest.raises(NotFound):
            store.get(key)
        with pytest.raises(NotFound):
            store.get_range(key, 0, 1)
        with pytest.raises(NotFound):
            store.get_range(key, 0, 0)
        with pytest.raises(NotFound):
            store.open_input(key)


def test_put_if_absent_keeps_the_first(store: Store) -> None:
    store.put_if_absent("log/1", b"first")
    with pytest.raises(AlreadyExists, match="log/1"):
        store.put_if_absent("log/1", b"second")
    assert store.get("log/1") == b"first"


def test_a_deleted_key_can_be_put_again(store: Store) -> None:
    store.put_if_absent("log/1", b"first")
    store.delete(["log/1"])
    store.put_if_absent("log/1", b"second")
    assert store.get("log/1") == b"second"


@pytest.mark.parametrize("attempt", range(3))
def test_of_32_racers_one_wins_and_its_bytes_stay(store: Store, attempt: int) -> None:
    start = threading.Barrier(32)

    def race(number: int) -> bytes | None:
        data = str(number).encode() * 1_000
        start.wait()
        try:
            store.put_if_absent("log/1", data)
        except AlreadyExists:
            return None
        return data

    with ThreadPoolExecutor(32) as pool:
        winners = [data for data in pool.map(race, range(32)) if data is not None]
    assert winners == [store.get("log/1")]


def test_a_reader_never_sees_a_half_object_while_it_is_replaced(store: Store) -> None:
    versions = [bytes([number]) * 300_000 for number in range(8)]
    store.put("object", versions[0])
    done = threading.Event()

    def read() -> set[bytes]:
        seen = set()
        while not done.is_set():
            seen.add(store.get("object"))
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for data in versions * 2:
            store.put("object", data)
        done.set()
        seen = set().union(*(reader.result() for reader in readers))
    assert seen
    assert seen <= set(versions)


def test_ranges_end_where_the_object_ends(store: Store) -> None:
    data = bytes(range(256)) * 8_192
    store.put("big", data)
    assert store.get_range("big", 0, len(data)) == data
    assert store.get_range("big", 1_000_003, 777_777) == data[1_000_003:1_777_780]
    assert store.get_range("big", len(data) - 8, 8) == data[-8:]
    assert store.get_range("big", len(data) - 8, 1 << 40) == data[-8:]
    assert store.get_range("big", len(data), 1) == b""
    assert store.get_range("big", len(data) + 1_000, 1) == b""
    assert store.get_range("big", 5, 0) == b""


@pytest.mark.parametrize(("start", "length"), [(-1, 1), (0, -1)])
def test_a_range_before_the_beginning_is_refused(store: Store, start: int, length: int) -> None:
    store.put("object", b"bytes")
    with pytest.raises(InvalidRange):
        store.get_range("object", start, length)


def test_a_listing_tells_sizes_and_times(store: Store) -> None:
    store.put("folder/one", b"1")
    store.put("folder/three", b"333")
    listed = list(store.list("folder/"))
    assert [(info.key, info.size) for info in listed] == [("folder/one", 1), ("folder/three", 3)]
    micros_of_2020, micros_of_2200 = 1_577_836_800_000_000, 7_258_118_400_000_000
    assert all(micros_of_2020 < info.modified_micros < micros_of_2200 for info in listed)


def test_a_prefix_is_text_and_not_a_folder(store: Store) -> None:
    for key in ("ab/1", "ab/2", "abc", "ac", "b"):
        store.put(key, b"")
    assert keys_of(store, "ab") == ["ab/1", "ab/2", "abc"]
    assert keys_of(store, "ab/") == ["ab/1", "ab/2"]
    assert keys_of(store, "ab/2") == ["ab/2"]
    assert keys_of(store, "x") == []
    assert keys_of(store, "ab/1/") == []


def test_a_listing_starts_after_a_key_that_need_not_exist(store: Store) -> None:
    names = [f"log/{number:020}.transaction" for number in range(30)]
    for name in names:
        store.put(name, b"")
    assert keys_of(store, "log/", names[10]) == names[11:]
    assert keys_of(store, "log/", "log/00000000000000000010") == names[10:]
    assert keys_of(store, "log/", names[-1]) == []
    assert keys_of(store, "log/", "a") == names
    assert keys_of(store, "log/", "z") == []


def test_a_listing_that_starts_after_the_name_of_a_folder_shows_what_lies_in_it(store: Store) -> None:
    for key in ("a-b", "a/b", "a0"):
        store.put(key, b"")
    assert keys_of(store, "a", "a") == ["a-b", "a/b", "a0"]
    assert keys_of(store, "", "a") == ["a-b", "a/b", "a0"]
    assert keys_of(store, "", "a-b") == ["a/b", "a0"]
    assert keys_of(store, "a", "a/b") == ["a0"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=KEY_SETS, data=st.data())
def test_listings_are_in_byte_order_from_any_key_with_any_prefix(
    new_store: Callable[[], Store], keys: set[str], data: st.DataObject
) -> None:
    store = new_store()
    for key in keys:
        store.put(key, b"")
    some_key = st.sampled_from(sorted(keys)) | KEYS if keys else KEYS
    for _ in range(4):
        start_after = data.draw(some_key.flatmap(lambda key: st.integers(0, len(key)).map(lambda end: key[:end])))
        prefix = data.draw(some_key.flatmap(lambda key: st.integers(0, len(key)).map(lambda end: key[:end])))
        expected = sorted((key for key in keys if key.startswith(prefix) and key > start_after), key=str.encode)
        assert keys_of(store, prefix, start_after) == expected


def test_deleting_is_fine_with_missing_keys_and_leaves_the_others(store: Store) -> None:
    for key in ("a/1", "a/2", "b"):
        store.put(key, b"")
    store.delete(["a/1", "a/missing", "no/such/folder", "a"])
    store.delete([])
    store.delete(key for key in ["b"])
    assert keys_of(store) == ["a/2"]


def test_parquet_is_read_through_an_input(store: Store) -> None:
    table = pa.table({"a": range(10_000), "b": [str(number) for number in range(10_000)]})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=1_000)
    store.put("data/part.parquet", sink.getvalue().to_pybytes())
    with store.open_input("data/part.parquet") as file:
        assert pq.ParquetFile(file).read_row_group(7, ["b"])["b"][0].as_py() == "7000"


def test_stores_with_different_roots_do_not_meet(new_store: Callable[[], Store]) -> None:
    one, other = new_store(), new_store()
    one.put("key", b"one")
    assert keys_of(other) == []
    assert one.uri != other.uri
    assert not one.uri.endswith("/")
