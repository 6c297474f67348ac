"""Instar: move a live table from opaque blobs to columnar files, with proof at every gate."""
