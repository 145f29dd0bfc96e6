"""A few fixed cases of a campaign without end: see `kills`."""

from __future__ import annotations

import subprocess

import pytest
from tests.searchers import kills


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_hit_at_any_moment_a_search_ends_as_if_never_touched(seed):
    kills.kill_once(seed)


def test_a_case_that_breaks_says_how_to_repeat_it(monkeypatch):
    broken = subprocess.CompletedProcess([], 1, "", "AssertionError: the run is another one")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: broken)
    with pytest.raises(AssertionError, match=r"another one\nrepeat it: python -m tests\.searchers\.kills 17"):
        kills.kill_once(17)
