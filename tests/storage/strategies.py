"""Keys and listings for property tests."""

from hypothesis import strategies as st

# Characters around `/` in byte order, where stores that sort by segments go wrong, and some of two to four bytes.
SEGMENTS = st.text(alphabet=" !-.0aAz~é\uffee😀", min_size=1, max_size=3).filter(lambda s: s not in {".", ".."})


def _without_folders(keys: set[str]) -> set[str]:
    return {key for key in keys if not any(other.startswith(f"{key}/") for other in keys)}


KEYS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
KEY_SETS = st.sets(KEYS, max_size=12).map(_without_folders)
"""Sets in which no key is the folder of another."""
