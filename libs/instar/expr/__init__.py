"""Filters: SQL text to a small typed tree, and what the tree means over rows."""
