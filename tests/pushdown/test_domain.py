import itertools

import numpy as np

from instar.pushdown.domain import ERROR, FALSE, NULL, TRUE, BoolDomain

SETS = np.arange(16, dtype=np.uint8)


def _one(outcomes: int) -> BoolDomain:
    return BoolDomain(np.array([outcomes], np.uint8))


def test_kleene_logic_holds_on_single_outcomes() -> None:
    truths = {TRUE: True, FALSE: False, NULL: None}
    for left, right in itertools.product(truths, repeat=2):
        conjunction = FALSE if FALSE in (left, right) else NULL if NULL in (left, right) else TRUE
        disjunction = TRUE if TRUE in (left, right) else NULL if NULL in (left, right) else FALSE
        assert (_one(left) & _one(right)).outcomes.tolist() == [conjunction]
        assert (_one(left) | _one(right)).outcomes.tolist() == [disjunction]


def test_an_error_surfaces_unless_the_other_side_decides() -> None:
    assert (_one(ERROR) & _one(TRUE)).outcomes.tolist() == [ERROR]
    assert (_one(ERROR) & _one(FALSE)).outcomes.tolist() == [ERROR | FALSE]
    assert (_one(ERROR) | _one(TRUE)).outcomes.tolist() == [ERROR | TRUE]
    assert (~_one(ERROR)).outcomes.tolist() == [ERROR]
    assert _one(ERROR | NULL).is_null().outcomes.tolist() == [ERROR | TRUE]


def test_sets_combine_member_by_member() -> None:
    for left, right in itertools.product(range(16), repeat=2):
        expected = 0
        for a, b in itertools.product((TRUE, FALSE, NULL, ERROR), repeat=2):
            if left & a and right & b:
                expected |= int((_one(a) & _one(b)).outcomes[0])
        assert (_one(left) & _one(right)).outcomes.tolist() == [expected]


def test_negation_twice_is_nothing() -> None:
    assert (~~BoolDomain(SETS)).outcomes.tolist() == SETS.tolist()
