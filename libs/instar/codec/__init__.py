"""Codecs: whole columns to one opaque blob per row, and back."""
