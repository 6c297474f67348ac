import pytest

from instar.cli.duration import InvalidDuration, parse_duration


@pytest.mark.parametrize(("text", "seconds"), [("0s", 0), ("30s", 30), ("10m", 600), ("24h", 86_400), ("7d", 604_800)])
def test_a_duration_is_a_number_and_its_unit(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds * 1_000_000


@pytest.mark.parametrize("text", ["", "24", "h", "-1h", "1.5h", "1w", "1h30m", " 1h", "1h\n", "٣h", "9999999999d"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidDuration):
        parse_duration(text)
