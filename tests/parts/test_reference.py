"""The page on files names the limits that the code has."""

from pathlib import Path

import pytest

from instar.model.settings import MIB, TableSettings
from instar.parts.bounds import BOUND_BYTES
from instar.parts.json_statistics import MOST_KEYS
from instar.parts.statistics import MOST_VALUES
from instar.parts.writer import ROW_GROUP_ROWS

PAGE = (Path(__file__).parents[2] / "docs/reference/files.md").read_text()
SETTINGS = TableSettings()


@pytest.mark.parametrize(
    "words",
    [
        f"`part_bytes` ({SETTINGS.part_bytes // MIB} MiB)",
        f"`part_rows` ({SETTINGS.part_rows:,})",
        f"`statistics_bytes` ({SETTINGS.statistics_bytes:,})",
        f"at most {MOST_VALUES}, none longer than {BOUND_BYTES} bytes",
        f"at most {MOST_KEYS} in one place",
        f"A row group has {ROW_GROUP_ROWS:,} rows",
    ],
)
def test_the_page_has_the_limits_of_the_code(words: str) -> None:
    assert words in PAGE
