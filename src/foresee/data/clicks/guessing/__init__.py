"""Guessing: a schema for a log that nobody has described."""
