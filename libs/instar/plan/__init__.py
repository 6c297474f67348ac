"""Scans and writes: which parts answer a question, how their updates become rows, and how rows become parts."""
