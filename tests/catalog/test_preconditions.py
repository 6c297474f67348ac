import pytest

from instar.catalog.preconditions import FlagsVersion, PartsLive, Precondition, TableAbsent, TableExists
from tests.catalog.samples import Writer

WRITER = Writer()
WRITER.create()
SNAPSHOT = WRITER.add().snapshot
KEY = WRITER.keys()[0]


@pytest.mark.parametrize(
    "holding", [TableAbsent("air"), TableExists("h2o"), PartsLive("h2o", (KEY,)), FlagsVersion("h2o", 0)]
)
def test_what_holds_is_no_violation(holding: Precondition) -> None:
    assert holding.violation(SNAPSHOT) is None


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (TableAbsent("h2o"), "Table 'h2o' exists."),
        (TableExists("air"), "There is no table 'air'."),
        (PartsLive("h2o", (KEY, "gone")), "Part gone of 'h2o' is no longer live."),
        (PartsLive("air", ("gone",)), "Part gone of 'air' is no longer live."),
        (FlagsVersion("h2o", 3), "The flags of 'h2o' went from version 3 to 0."),
        (FlagsVersion("air", 3), "There is no table 'air'."),
    ],
)
def test_what_is_broken_says_how(broken: Precondition, sentence: str) -> None:
    assert broken.violation(SNAPSHOT) == sentence
