"""A small fixed part of the campaign: one case of each kind, always the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hostile.failures import ROOT
from hostile.kind import names

#: the seed of the fixed part
SEED = "2"
#: kinds whose cases depend on the moment at which a signal arrives; rooms have kills of their own among their tests
TIMED = ("blows", "kills", "faults")


@pytest.mark.slow
def test_one_case_of_each_kind_holds():
    steady = [name for name in names() if name not in TIMED]
    asked = {"HOSTILE_CASES": "1", "HOSTILE_SEED": SEED, "HOSTILE_MINUTES": "10", "HOSTILE_KINDS": " ".join(steady)}
    done = subprocess.run(
        [sys.executable, "-m", "hostile"], cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True
    )
    lines = {line.split()[0]: line.split()[1:4] for line in done.stdout.splitlines() if line.split()}
    assert [lines.get(name) for name in steady] == [["1", "1", "0"]] * len(steady), done.stdout + done.stderr
    assert done.returncode == 0
