from collections.abc import Callable
from pathlib import Path

import pytest

from instar.codec.registry import DEFAULT_CODEC, BrokenCodec, UnknownCodec, codec_named

Install = Callable[..., None]

MODULE = """
class Codec:
    def __init__(self, name="a_class"):
        self.name = name
    def encode(self, columns, rows): ...
    def decode(self, columns, blobs): ...

an_object = Codec("an_object")
nothing = object()

def a_function():
    return Codec("a_function")

def fails():
    raise OSError("no disk")

def returns_nothing():
    return None
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put packages with entry points on the path."""
    (tmp_path / "codecs_for_tests.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)

    def install(package: str = "shop", **codecs: str) -> None:
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = codecs_for_tests:{target}" for name, target in codecs.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[instar.codecs]", *lines, ""]))

    return install


@pytest.mark.parametrize("name", [DEFAULT_CODEC, "json"])
def test_the_built_in_codecs_are_there_under_their_names(name: str) -> None:
    assert codec_named(name).name == name


def test_an_unknown_codec_is_answered_with_the_known_ones(install: Install) -> None:
    install(a_codec="an_object")
    with pytest.raises(UnknownCodec, match=r"no codec 'zip'.*row, json, .*a_codec"):
        codec_named("zip")


@pytest.mark.parametrize(("name", "target"), [("a_class", "Codec"), ("an_object",) * 2, ("a_function",) * 2])
def test_an_entry_point_leads_to_a_codec_or_to_what_makes_one(install: Install, name: str, target: str) -> None:
    install(**{name: target})
    codec = codec_named(name)
    assert codec.name == name
    assert codec_named(name) is codec


def test_other_codecs_may_be_broken(install: Install) -> None:
    install(broken="missing", fine="nothing")
    assert codec_named("json").name == "json"
    with pytest.raises(UnknownCodec):
        codec_named("zip")


@pytest.mark.parametrize(
    ("target", "fact"),
    [
        ("missing", "can't be loaded: AttributeError: .*missing"),
        ("fails", "can't be loaded: OSError: no disk"),
        ("nothing", "can't be loaded: TypeError: .*not callable"),
        ("returns_nothing", "is None: no codec of that name"),
        ("an_object", "is <.*Codec object.*>: no codec of that name"),
    ],
)
def test_a_broken_entry_point_is_named(install: Install, target: str, fact: str) -> None:
    install("the-shop", orders=target)
    where = f"Codec 'orders', codecs_for_tests:{target} of package the-shop,"
    with pytest.raises(BrokenCodec, match=f"{where} {fact}"):
        codec_named("orders")


def test_two_codecs_of_one_name_are_refused(install: Install) -> None:
    install("shop", orders="an_object")
    install("market", orders="a_function")
    with pytest.raises(BrokenCodec, match=r"'orders' is offered by .*:.* of package .* and by .* of package"):
        codec_named("orders")


def test_a_built_in_name_can_not_be_taken(install: Install) -> None:
    install(row="fails")
    assert codec_named("row").name == "row"
