from tests.looking import _golden_file, _one_thread, batch, golden, small  # noqa: F401
