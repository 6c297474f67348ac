import pytest

from instar.codec.registry import DEFAULT_CODEC, UnknownCodec, codec_named


def test_the_default_codec_is_there_under_its_name() -> None:
    assert codec_named(DEFAULT_CODEC).name == DEFAULT_CODEC


def test_an_unknown_codec_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownCodec, match=r"no codec 'zip'.*row"):
        codec_named("zip")
