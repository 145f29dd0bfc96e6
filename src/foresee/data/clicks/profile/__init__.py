"""Profiles: what is in a log, in one pass."""
