"""One thread: the networks here are tiny."""

from tests.looking import _one_thread  # noqa: F401
