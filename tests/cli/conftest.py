from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from foresee.cli.entry import run


@pytest.fixture
def foresee(tmp_path, monkeypatch, capfd):
    """The command, called in this process (starting a new one costs seconds) from an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")
    before = set(sys.modules)

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", *arguments])
        capfd.readouterr()
        returned = run()
        out, err = capfd.readouterr()
        assert returned == code, (returned, out, err)
        if code == 2:
            assert len(err.strip().splitlines()) == 1, err
        return SimpleNamespace(stdout=out, stderr=err)

    yield call
    for name in set(sys.modules) - before:  # another test may have a module of the same name
        if getattr(sys.modules[name], "__file__", None) and sys.modules[name].__file__.startswith(str(tmp_path)):
            del sys.modules[name]
