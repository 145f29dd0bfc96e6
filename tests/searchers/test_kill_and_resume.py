"""Kill -9 at random moments, resume, and compare with a run that was never stopped."""

from __future__ import annotations

import json

import pytest
from tests.killing import run_script

from foresee.runs import Store

NETS = """
from torch import nn

def make_net(pick):
    width = pick("width", list(range(2, 12)))
    depth = pick("depth", [1, 2, 3, 4])
    norm = pick("norm", [True, False])
    layers = [nn.Conv2d(3, width, 3, padding=1)]
    for _ in range(depth):
        layers += [nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)] + ([nn.BatchNorm2d(width)] if norm else [])
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 4))
"""

SCRIPT = """
from foresee.searchers import SearchSettings, run_search
from tests.killing import at_random, whole

def search(out):
    settings = SearchSettings.from_json({
        "space": "nasbench201", "space_settings": {"channels": 2, "cells": 1}, "proxies": ["grad_norm", "naswot"],
        "evaluations": 24, "seed": 5, "data": "synthetic", "inputs": [3, 8, 8], "outputs": 4, "batch_size": 8,
        "searcher_settings": {"population": 8, "sample": 3}, "limits": {"params": {"max": 2500}},
    })
    run_search(settings, out=out, resume=True)

print(at_random(search, whole(search, "whole"), kills=8, seed=7))
"""

# a victim with workers, which are alive when it is hit
WORKERS = """
import os, signal, time
from pathlib import Path
import foresee.cli.commands.search
from foresee.cli.app import app
from foresee.runs import read
from tests.killing import ended, forked, whole

COMMAND = ["search", "nets:make_net", "--proxy", "naswot", "--evaluations", "20", "--data", "synthetic", "--input", "3x8x8",
           "--outputs", "4", "--batch-size", "8", "--resume", "--quiet"]

def search(out, *engine):
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    app([*COMMAND, "--engine", *(engine or ["serial"]), "--out", out], standalone_mode=False)

whole(search, "whole")
victim = forked(search, "r", "processes", "--workers", "2")
deadline = time.monotonic() + 120
while time.monotonic() < deadline and not (Path("r/run.sqlite").exists() and len(read("r").scored) >= 5):
    time.sleep(0.02)
os.kill(victim, signal.SIGKILL)
assert ended(victim) == -signal.SIGKILL
assert 5 <= len(read("r").scored) < 20
assert ended(forked(search, "r")) == 0
"""


def rows(folder):
    with Store.open(folder / "run.sqlite") as store:
        record, state = store.record(), store.get("searcher_state")
    candidates = [
        (
            *(c.id, c.architecture, c.identity, c.parent, c.status, c.reason, c.merit, dict(c.counts), c.attempts),
            *((s.proxy, s.value, s.status, s.reason, s.direction, s.seed) for s in c.scores.values()),
        )
        for c in record.candidates
    ]
    return candidates, state, record.status, json.loads((folder / "best.json").read_text())


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_as_if_never_stopped(tmp_path):
    for folder in range(1, int(run_script(SCRIPT, tmp_path)) + 1):
        assert rows(tmp_path / f"killed{folder}") == rows(tmp_path / "whole")


@pytest.mark.slow
def test_killed_with_workers_it_resumes_in_another_engine(tmp_path):
    (tmp_path / "nets.py").write_text(NETS)
    run_script(WORKERS, tmp_path)
    assert rows(tmp_path / "r") == rows(tmp_path / "whole")
