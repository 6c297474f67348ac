"""What every DAG of Instar has in common."""

from datetime import timedelta
from typing import Any

OWNER = "instar"
TAG = "instar"


def default_args(timeout: timedelta = timedelta(minutes=30), retries: int = 1) -> dict[str, Any]:
    """Return the arguments of every task: an owner, a retry and an end."""
    return {
        "owner": OWNER,
        "retries": retries,
        "retry_delay": timedelta(seconds=10),
        "execution_timeout": timeout,
    }
