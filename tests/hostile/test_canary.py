"""The canary sings when it is run, and only then."""

from __future__ import annotations

import pickle
import runpy

import pytest
from hostile.canary import Canary


def test_it_is_silent_until_its_code_is_run(tmp_path):
    canary = Canary(tmp_path)
    content = canary.pickle(2, inside=lambda bomb: {"data": bomb})
    canary.check()
    pickle.loads(content)["data"].close()
    with pytest.raises(AssertionError, match="was run"):
        canary.check()


def test_it_sings_when_a_module_of_its_is_imported(tmp_path):
    canary = Canary(tmp_path)
    runpy.run_path(str(tmp_path / "PIL.py"))
    with pytest.raises(AssertionError, match="PIL was imported"):
        canary.check()
