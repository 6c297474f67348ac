import pytest

from instar.flags import Flags, InvalidFlags, Pushdown, ReadFormat, WriteFormat, least


def test_a_table_without_flags_is_written_and_read_as_codec() -> None:
    assert Flags.parse({}) == Flags(WriteFormat.CODEC, ReadFormat.CODEC, Pushdown.OFF)


def test_values_are_laid_over_the_base() -> None:
    base = Flags.parse({"write_format": "dual", "pushdown": "soft"})
    assert Flags.parse({"pushdown": "on"}, base) == Flags(WriteFormat.DUAL, ReadFormat.CODEC, Pushdown.ON)


def test_json_round_trips() -> None:
    flags = Flags(WriteFormat.STRUCTURED, ReadFormat.SHADOW, Pushdown.ON)
    assert flags.to_json() == {"write_format": "structured", "read_format": "shadow", "pushdown": "on"}
    assert Flags.parse(flags.to_json()) == flags


def test_an_unknown_flag_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(InvalidFlags, match=r"no flag 'reed_format'\. Use one of: write_format, read_format, pushdown"):
        Flags.parse({"reed_format": "codec"})


@pytest.mark.parametrize("value", ["shadow", "DUAL", "", None, 1, ["dual"]])
def test_an_unknown_value_is_refused_with_the_allowed_ones(value: object) -> None:
    with pytest.raises(InvalidFlags, match=r"write_format can't be .* Use one of: codec, dual, structured"):
        Flags.parse({"write_format": value})


def test_the_least_of_several_is_what_all_have_reached() -> None:
    behind = Flags(WriteFormat.STRUCTURED, ReadFormat.CODEC, Pushdown.SOFT)
    ahead = Flags(WriteFormat.DUAL, ReadFormat.SHADOW, Pushdown.ON)
    assert least([behind, ahead]) == Flags(WriteFormat.DUAL, ReadFormat.CODEC, Pushdown.SOFT)
