"""A new file in a room is known to everybody, with nothing else edited: shown in a scratch copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import foresee

SPACE = '''
"""Two numbers."""

from torch import nn

from foresee.errors import InputError
from foresee.spaces import NASBench201  # another file of the room, which may not be imported yet
from foresee.spaces.base import Space, spaces

assert NASBench201.name == "nasbench201"


@spaces.register("dropped_pair")
class DroppedPair(Space[str]):
    """One hidden layer.

    Args:
        narrow: the smaller width.
    """

    name = "dropped_pair"
    summary = "a space that was dropped in"
    source = "a test"

    def __init__(self, *, narrow=2):
        self.narrow = narrow

    def sample(self, rng):
        return rng.choice(["narrow", "wide"])

    def mutate(self, architecture, rng):
        return "wide" if architecture == "narrow" else "narrow"

    def parse(self, text):
        if text not in ("narrow", "wide"):
            raise InputError(f"{text!r}: expected narrow or wide")
        return text

    @property
    def size(self):
        return 2

    def build(self, architecture, task):
        width = self.narrow * (1 if architecture == "narrow" else 4)
        features = task.inputs[0] * task.inputs[1] * task.inputs[2]
        return nn.Sequential(nn.Flatten(1), nn.Linear(features, width), nn.ReLU(), nn.Linear(width, task.outputs))
'''

PROXY = '''
"""A proxy that was dropped in."""

import torch

from foresee.proxies.base import proxy


@proxy("dropped_count", paper="a test", cost="nothing")
def dropped_count(probe):
    """Number of tensors of parameters."""
    return torch.tensor(float(len(list(probe.network.parameters()))), dtype=torch.float64)
'''

SEARCHER = '''
"""A searcher that was dropped in."""

from foresee.searchers.base import Sampler, searchers


@searchers.register("dropped_list")
class DroppedList(Sampler):
    """Mutates what it proposed last."""

    name = "dropped_list"
    summary = "a searcher that was dropped in"

    def __init__(self, problem, *, first="wide"):
        super().__init__(problem)
        self.last = first

    def propose(self, rng, attempt):
        drawn, self.last = self.last, self.space.mutate(self.last, rng)
        return drawn, None
'''

ENGINE = '''
"""An engine that was dropped in."""

from foresee.runs.engines.base import engines
from foresee.runs.engines.serial import Serial


@engines.register("dropped_cellar")
class Cellar(Serial):
    """Serial, and says so."""

    summary = "an engine that was dropped in"

    def submit(self, job, payload):
        print("down in the cellar")
        super().submit(job, payload)
'''


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    """A copy of the package with one new file in each of four rooms, beside a plug-in that cannot be imported."""
    folder = tmp_path_factory.mktemp("scratch")
    package = folder / "foresee"
    shutil.copytree(Path(foresee.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "spaces" / "dropped_pair.py").write_text(SPACE)
    (package / "proxies" / "dropped_count.py").write_text(PROXY)
    (package / "searchers" / "dropped_list.py").write_text(SEARCHER)
    (package / "runs" / "engines" / "dropped_cellar.py").write_text(ENGINE)
    (folder / "stranger.py").write_text("raise RuntimeError('the stranger was imported')\n")
    about = folder / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[foresee.spaces]\nstranger = stranger\n")
    return folder


def run(scratch: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(scratch), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=scratch, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("room", "name"),
    [
        ("spaces", "dropped_pair"),
        ("proxies", "dropped_count"),
        ("searchers", "dropped_list"),
        ("engines", "dropped_cellar"),
    ],
)
def test_a_new_file_is_listed(scratch, room, name):
    assert name in [row["name"] for row in json.loads(run(scratch, "-m", "foresee", room, "--json"))]


def test_a_new_space_is_scored_by_a_new_proxy(scratch):
    command = ("-m", "foresee", "score", "dropped_pair", "wide", "--proxy", "dropped_count", "--set", "space.narrow=3")
    found = json.loads(run(scratch, *command, "--json"))
    assert found["architecture"] == "wide"
    assert found["params"] == 12 * (3 * 32 * 32 + 1) + 10 * (12 + 1)
    assert found["scores"]["dropped_count"]["value"] == 4.0


def test_a_new_searcher_searches_it_in_a_new_engine(scratch):
    command = ["search", "dropped_pair", "--searcher", "dropped_list", "--engine", "dropped_cellar", "--out", "r"]
    command += ["--proxy", "dropped_count", "--evaluations", "5", "--set", "dropped_list.first=narrow"]
    said = run(scratch, "-m", "foresee", *command)
    assert (
        said.count("down in the cellar") == 2 + 2 * 4
    )  # two architectures, and both again under the seeds of the finals
    assert json.loads((scratch / "r" / "best.json").read_text())["architecture"] == "narrow"


def test_a_new_space_is_here_by_its_class_and_by_its_settings(scratch):
    code = """
import foresee as fs
from foresee.spaces import DroppedPair

space = DroppedPair(narrow=5)
print(space.settings(), fs.spaces.get(space.reference, **space.settings()).narrow, fs.spaces.DARTS.name)
"""
    assert run(scratch, "-c", code).split() == ["{'narrow':", "5}", "5", "darts"]


def test_importing_the_room_imports_no_stranger_and_a_broken_one_harms_nobody(scratch):
    code = """
import sys
from foresee import spaces

early = "stranger" in sys.modules or "foresee.spaces.dropped_pair" in sys.modules
print(early, len(spaces.names()) > 2, spaces.spaces.broken)
"""
    assert run(scratch, "-c", code).strip() == "False True {'stranger': 'RuntimeError: the stranger was imported'}"
