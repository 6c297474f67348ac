import pytest

from instar.storage.faulty import Crashed, Fault, FaultKind, FaultyStore, OverwritingStore
from instar.storage.memory import MemoryStore
from instar.storage.protocol import AlreadyExists, DidNotHappen, MayHaveHappened, NotFound, Throttled


def keys_of(store: FaultyStore | MemoryStore) -> list[str]:
    return [info.key for info in store.list("")]


def test_failing_before_leaves_the_store_as_it_was() -> None:
    store = FaultyStore(MemoryStore(), [Fault("put", 1, FaultKind.FAIL_BEFORE)])
    with pytest.raises(DidNotHappen):
        store.put("object", b"")
    assert keys_of(store) == []
    store.put("object", b"")
    assert keys_of(store) == ["object"]


def test_failing_after_has_happened_all_the_same() -> None:
    store = FaultyStore(MemoryStore(), [Fault("put_if_absent", 1, FaultKind.FAIL_AFTER)])
    with pytest.raises(MayHaveHappened):
        store.put_if_absent("object", b"data")
    assert store.get("object") == b"data"
    with pytest.raises(AlreadyExists):
        store.put_if_absent("object", b"other")


def test_a_lost_reply_hides_a_refusal_too() -> None:
    store = FaultyStore(MemoryStore(), [Fault("put_if_absent", 2, FaultKind.FAIL_AFTER)])
    store.put_if_absent("object", b"data")
    with pytest.raises(MayHaveHappened):
        store.put_if_absent("object", b"other")
    assert store.get("object") == b"data"


def test_a_read_that_fails_after_did_not_happen() -> None:
    store = FaultyStore(MemoryStore(), [Fault("get", 1, FaultKind.FAIL_AFTER)])
    store.put("object", b"data")
    with pytest.raises(DidNotHappen):
        store.get("object")
    assert store.get("object") == b"data"


def test_the_nth_call_is_counted_per_operation() -> None:
    store = FaultyStore(MemoryStore(), [Fault("put", 2, FaultKind.FAIL_BEFORE)])
    store.put("one", b"")
    store.get("one")
    store.put_if_absent("two", b"")
    with pytest.raises(DidNotHappen):
        store.put("three", b"")


def test_any_counts_all_operations_and_strikes_once() -> None:
    store = FaultyStore(MemoryStore(), [Fault("any", 3, FaultKind.THROTTLE)])
    store.put("one", b"")
    store.get("one")
    with pytest.raises(Throttled):
        store.delete(["one"])
    store.delete(["one"])
    assert keys_of(store) == []


def test_throttling_did_not_happen() -> None:
    assert issubclass(Throttled, DidNotHappen)


def test_a_delay_waits_and_then_does_it() -> None:
    waited: list[float] = []
    store = FaultyStore(MemoryStore(), [Fault("put", 1, FaultKind.DELAY, seconds=0.25)], pause=waited.append)
    store.put("object", b"data")
    store.put("object", b"data")
    assert waited == [0.25]
    assert store.get("object") == b"data"


def test_a_stale_listing_hides_what_is_new_and_shows_what_is_gone() -> None:
    inner = MemoryStore()
    inner.put("a/gone", b"")
    store = FaultyStore(inner, [Fault("list", 2, FaultKind.STALE_LIST)])
    assert keys_of(store) == ["a/gone"]
    store.delete(["a/gone"])
    store.put("a/new", b"")
    assert [info.key for info in store.list("a/")] == ["a/gone"]
    assert keys_of(store) == ["a/new"]


def test_a_stale_listing_keeps_to_prefix_and_start() -> None:
    inner = MemoryStore()
    for key in ("a/1", "a/2", "b/3"):
        inner.put(key, b"")
    store = FaultyStore(inner, [Fault("list", 1, FaultKind.STALE_LIST)])
    inner.delete(["a/2"])
    assert [info.key for info in store.list("a/", "a/1")] == ["a/2"]


@pytest.mark.parametrize(("kind", "left"), [(FaultKind.CRASH_BEFORE, []), (FaultKind.CRASH_AFTER, ["object"])])
def test_nothing_happens_after_a_crash(kind: FaultKind, left: list[str]) -> None:
    inner = MemoryStore()
    store = FaultyStore(inner, [Fault("any", 1, kind)])
    with pytest.raises(Crashed):
        store.put("object", b"")
    for attempt in (lambda: store.put("later", b""), lambda: store.get("object"), lambda: store.list("")):
        with pytest.raises(Crashed):
            attempt()
    assert keys_of(inner) == left


def test_no_handler_of_ordinary_errors_survives_a_crash() -> None:
    assert not issubclass(Crashed, Exception)


def test_calls_are_recorded_with_their_keys() -> None:
    store = FaultyStore(MemoryStore(), [Fault("put", 1, FaultKind.FAIL_BEFORE)])
    with pytest.raises(DidNotHappen):
        store.put("one", b"")
    with pytest.raises(NotFound):
        store.get("one")
    store.delete(["one", "two"])
    assert store.calls == [("put", "one"), ("get", "one"), ("delete", "one two")]


def test_the_overwriting_store_answers_success_to_all() -> None:
    store = OverwritingStore(MemoryStore(), [Fault("put_if_absent", 3, FaultKind.FAIL_BEFORE)])
    store.put_if_absent("object", b"first")
    store.put_if_absent("object", b"second")
    assert store.get("object") == b"second"
    with pytest.raises(DidNotHappen):
        store.put_if_absent("object", b"third")


def test_a_torn_listing_breaks_off() -> None:
    inner = MemoryStore()
    for key in ("a", "b", "c", "d"):
        inner.put(key, b"x")
    store = FaultyStore(inner, [Fault("list", 1, FaultKind.TORN_LIST)])
    listing = store.list("")
    assert [next(listing).key, next(listing).key] == ["a", "b"]
    with pytest.raises(DidNotHappen, match="broke off"):
        next(listing)
    assert len(list(store.list(""))) == 4


def test_a_late_put_arrives_behind_the_next_operation() -> None:
    inner = MemoryStore()
    store = FaultyStore(inner, [Fault("put", 1, FaultKind.LATE), Fault("get", 3, FaultKind.LATE)])
    with pytest.raises(MayHaveHappened, match="on its way"):
        store.put("a", b"x")
    with pytest.raises(NotFound):
        store.get("a")
    assert store.get("a") == b"x"
    with pytest.raises(DidNotHappen, match="no reply"):
        store.get("a")


def test_what_is_on_its_way_arrives_when_the_store_settles() -> None:
    inner = MemoryStore()
    inner.put("a", b"first")
    store = FaultyStore(inner, [Fault("put_if_absent", 1, FaultKind.LATE), Fault("delete", 1, FaultKind.LATE)])
    with pytest.raises(MayHaveHappened):
        store.put_if_absent("a", b"second")
    store.settle()
    assert inner.get("a") == b"first"
    with pytest.raises(MayHaveHappened):
        store.delete(["a"])
    assert inner.get("a") == b"first"
    store.settle()
    assert list(inner.list("")) == []
