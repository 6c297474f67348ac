"""How much the tests of the catalog have tried; printed at the end of a run."""

from collections import Counter

TRIED: Counter[str] = Counter()
