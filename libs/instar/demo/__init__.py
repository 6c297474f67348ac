"""The demo: the whole rollout of a live table, with a fault on the way."""
