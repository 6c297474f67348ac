import pytest
from pyspark.sql import SparkSession

from instar.engine.tasks import partition_number, run_tasks

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20])
def test_each_piece_runs_in_a_task_of_its_own(spark: SparkSession, count: int) -> None:
    """Spread by the hash of their places, two of three pieces shared a task, and an executor had nothing to do."""
    ran = run_tasks(spark, lambda item, attempt: (item, attempt, partition_number()), list(range(count)))
    assert [(item, attempt) for item, attempt, _ in ran] == [(item, 0) for item in range(count)]
    assert len({partition for _, _, partition in ran}) == count


def test_no_pieces_need_no_task(spark: SparkSession) -> None:
    assert run_tasks(spark, lambda item, attempt: item, []) == []
