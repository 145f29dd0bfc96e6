from tests.looking import _one_thread, batch, golden, small  # noqa: F401
