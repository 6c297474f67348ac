"""Findings about the place that Instar runs in: what is there, what is missing, what to do."""
