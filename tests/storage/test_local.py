import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from instar.storage.keys import TEMPORARY_FOLDER
from instar.storage.local import InvalidRoot, LocalStore
from instar.storage.protocol import AlreadyExists, DidNotHappen, InvalidKey, MayHaveHappened, NotFound

OLD, NEW = b"old" * 1_000, b"new" * 100_000

KILLED_AT_A_STEP = """
import os, signal, sys
from pathlib import Path
from instar.storage.local import LocalStore

root, operation, step = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
steps = 0

def deadly(call):
    def step_then_call(*args, **kwargs):
        global steps
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return step_then_call

for name in ("open", "fsync", "link", "replace", "unlink", "mkdir"):
    setattr(os, name, deadly(getattr(os, name)))
getattr(LocalStore(root), operation)("deep/folder/object", b"new" * 100_000)
"""

KILLED_AT_A_TIME = """
import sys
from pathlib import Path
from instar.storage.local import LocalStore

store = LocalStore(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(1_000):
    store.put_if_absent(f"log/{number:04}", bytes([number % 256]) * 3_000_000)
    store.put("head", bytes([number % 256]) * 3_000_000)
"""


def is_temporary_only(root: Path) -> bool:
    return not any(TEMPORARY_FOLDER not in path.parts for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize("operation", ["put", "put_if_absent"])
def test_a_writer_killed_at_any_step_leaves_the_old_object_or_the_new(tmp_path: Path, operation: str) -> None:
    outcomes = []
    for step in range(1, 100):
        store = LocalStore(tmp_path / str(step))
        before = None
        if operation == "put":
            store.put("deep/folder/object", OLD)
            before = OLD
        command = [sys.executable, "-c", KILLED_AT_A_STEP, str(tmp_path / str(step)), operation, str(step)]
        code = subprocess.run(command, check=False).returncode
        listed = {info.key: info.size for info in store.list("")}
        try:
            after = store.get("deep/folder/object")
        except NotFound:
            after = None
        assert after in (before, NEW)
        assert listed == ({} if after is None else {"deep/folder/object": len(after)})
        outcomes.append(after)
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert outcomes[-1] == NEW
    assert outcomes.index(NEW) >= 4, "some of the kills hit before the object had its name"
    assert outcomes.count(NEW) >= 3, "some of the kills hit after the object had its name"


@pytest.mark.parametrize("seconds", [0.005, 0.02, 0.05])
def test_a_writer_killed_at_any_time_leaves_whole_objects_only(tmp_path: Path, seconds: float) -> None:
    command = [sys.executable, "-c", KILLED_AT_A_TIME, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(seconds)
        writer.kill()
    store = LocalStore(tmp_path)
    for info in store.list(""):
        data = store.get(info.key)
        assert len(data) == info.size == 3_000_000
        assert len(set(data)) == 1
    store.put("after", b"the crash")
    assert store.get("after") == b"the crash"


def record_steps(monkeypatch: pytest.MonkeyPatch, root: Path) -> list[str]:
    """Record what is synced and named, by path below `root`."""
    steps: list[str] = []
    fsync, link, replace = os.fsync, os.link, os.replace

    def describe(path: str) -> str:
        below = os.path.relpath(path, root)
        return "temporary" if below.startswith(f"{TEMPORARY_FOLDER}/") else below

    def recording_fsync(descriptor: int) -> None:
        steps.append(f"fsync {describe(str(Path(f'/proc/self/fd/{descriptor}').readlink()))}")
        fsync(descriptor)

    def recording_link(source: Path, target: Path) -> None:
        steps.append(f"link {describe(str(target))}")
        link(source, target)

    def recording_replace(source: Path, target: Path) -> None:
        steps.append(f"replace {describe(str(target))}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(os, "link", recording_link)
    monkeypatch.setattr(os, "replace", recording_replace)
    return steps


def test_data_is_durable_before_it_has_a_name_and_the_name_before_put_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(tmp_path)
    store.put("log/0", b"")
    steps = record_steps(monkeypatch, tmp_path)
    store.put_if_absent("log/1", b"data")
    store.put("log/1", b"data")
    assert steps == ["fsync temporary", "link log/1", "fsync log", "fsync temporary", "replace log/1", "fsync log"]


def test_new_folders_are_durable_before_the_object_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "new" / "root"
    steps = record_steps(monkeypatch, root)
    LocalStore(root).put_if_absent("a/b/object", b"data")
    before = steps[: steps.index("link a/b/object")]
    assert {"fsync ../..", "fsync ..", "fsync .", "fsync a"} <= set(before)


def test_folders_that_another_process_made_are_synced_once_by_us_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LocalStore(tmp_path, durable=False).put("a/b/theirs", b"")
    store = LocalStore(tmp_path)
    steps = record_steps(monkeypatch, tmp_path)
    store.put("a/b/ours", b"")
    assert {"fsync .", "fsync a"} <= set(steps)
    steps.clear()
    store.put("a/b/ours", b"")
    assert steps == ["fsync temporary", "replace a/b/ours", "fsync a/b"]


def test_without_durability_nothing_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path, durable=False)
    steps = record_steps(monkeypatch, tmp_path)
    store.put_if_absent("log/1", b"data")
    store.delete(["log/1"])
    assert steps == ["link log/1"]


def test_a_deletion_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path)
    store.put("log/1", b"")
    steps = record_steps(monkeypatch, tmp_path)
    store.delete(["log/1", "no/such/folder"])
    assert steps == ["fsync log"]


def failing(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path)
    store.put("other", b"")
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(DidNotHappen, match="No space left"):
        store.put("object", b"data")
    assert [info.key for info in store.list("")] == ["other"]
    assert list((tmp_path / TEMPORARY_FOLDER).iterdir()) == []


def test_a_name_that_may_not_be_durable_may_have_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = LocalStore(tmp_path)
    store.put("log/0", b"")
    monkeypatch.setattr(store, "_sync_folder", failing)
    with pytest.raises(MayHaveHappened):
        store.put_if_absent("log/1", b"data")
    assert store.get("log/1") == b"data"


def test_a_file_system_without_hard_links_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", failing)
    with pytest.raises(DidNotHappen, match="hard links"):
        LocalStore(tmp_path).put_if_absent("object", b"")
    assert is_temporary_only(tmp_path)


def test_losers_and_winners_leave_no_temporary_files(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put_if_absent("object", b"")
    with pytest.raises(AlreadyExists):
        store.put_if_absent("object", b"")
    store.put("object", b"")
    assert list((tmp_path / TEMPORARY_FOLDER).iterdir()) == []


def test_a_folder_is_not_an_object(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("folder/object", b"")
    with pytest.raises(InvalidKey, match="folder"):
        store.put_if_absent("folder", b"")
    with pytest.raises(InvalidKey, match="folder"):
        store.put("folder", b"")
    with pytest.raises(DidNotHappen):
        store.put("folder/object/below", b"")
    store.delete(["folder", "folder/object/below"])
    assert [info.key for info in store.list("")] == ["folder/object"]


def test_listings_leave_out_what_no_put_could_have_made(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "root")
    store.put("object", b"")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "link-to-file").symlink_to(tmp_path / "outside" / "secret")
    (tmp_path / "root" / "back\\slash").write_bytes(b"")
    (tmp_path / "root" / "empty folder").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "root") + b"/not-utf-8-\xff")).write_bytes(b"")
    os.mkfifo(tmp_path / "root" / "pipe")
    assert [info.key for info in store.list("")] == ["object"]


def test_objects_are_readable_by_whom_the_umask_allows(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        LocalStore(tmp_path).put("object", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "object").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["plain", "with space", "100%", "a?b#c", "ünï", "a%2Fb"])
def test_uris_are_percent_encoded(tmp_path: Path, name: str) -> None:
    store = LocalStore.from_uri(f"file://{quote(str(tmp_path / name))}/")
    store.put("object", b"here")
    assert (tmp_path / name / "object").read_bytes() == b"here"
    assert LocalStore.from_uri(store.uri).get("object") == b"here"
    assert store.uri == (tmp_path / name).as_uri()


@pytest.mark.parametrize(
    "uri", ["file://host/path", "file:relative", "file://", "file:///a?b", "file:///a#b", "file:///a%00"]
)
def test_uris_that_name_no_local_folder_are_refused(uri: str) -> None:
    with pytest.raises(InvalidRoot):
        LocalStore.from_uri(uri)


def test_opening_and_reading_create_nothing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "missing")
    assert list(store.list("")) == []
    with pytest.raises(NotFound):
        store.get("object")
    store.delete(["object"])
    assert not (tmp_path / "missing").exists()


def test_a_root_that_was_removed_is_made_again(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "root")
    store.put("folder/object", b"")
    for path in sorted((tmp_path / "root").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (tmp_path / "root").rmdir()
    store.put("folder/object", b"again")
    assert store.get("folder/object") == b"again"


def test_a_pickled_store_opens_the_same_folder(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put("object", b"here")
    assert pickle.loads(pickle.dumps(store)).get("object") == b"here"
