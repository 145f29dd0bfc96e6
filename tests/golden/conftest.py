from tests.looking import _one_thread  # noqa: F401
