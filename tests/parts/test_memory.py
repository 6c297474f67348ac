import subprocess
import sys
from pathlib import Path


def peak(work: str, count: int, folder: Path) -> int:
    """Return the most memory that a process of its own took."""
    command = [sys.executable, "-m", "tests.parts.memory_probe", work, str(count), str(folder)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_memory_is_bounded_by_row_groups_and_not_by_the_file(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    written = [peak("write", count, folder) for count, folder in ((4, few), (24, many))]
    assert written[1] < 1.5 * written[0]
    read = [peak("read", count, folder) for count, folder in ((4, few), (24, many))]
    assert read[1] < 1.5 * read[0]
