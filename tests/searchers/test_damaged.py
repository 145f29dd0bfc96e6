"""A run that was damaged: opened, reported or resumed, it is one clear line or a correct reading, and never written to."""

from __future__ import annotations

import random
import shutil

import pytest
from tests.runs.damages import DAMAGES, DOUBTFUL, damage, damage_at_random
from tests.searchers.test_search import essence, go

import foresee as fs
from foresee.errors import ForeseeError
from foresee.report import write
from foresee.runs import read

ASKED = {"proxies": ["naswot"], "evaluations": 8, "batch_size": 4}


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """A run that was interrupted, and the essence of one that was not."""

    def interrupt(event):
        if event.kind == "scored" and event.done >= 5:
            raise KeyboardInterrupt

    folder = tmp_path_factory.mktemp("half") / "r"
    with pytest.raises(KeyboardInterrupt):
        go(folder, observers=[interrupt], **ASKED)
    return folder, essence(go(**ASKED).record)


def try_all(folder, whole):
    """Open, report, resume; says what each gave."""
    store = folder / "run.sqlite"
    before = store.read_bytes()
    said = []
    for call in (
        lambda: read(folder).front,
        lambda: fs.Run.open(folder).best.build(),
        lambda: write(folder),
    ):
        try:
            call()
        except ForeseeError as error:
            said.append(str(error))
        assert store.read_bytes() == before
    try:
        resumed = go(folder, resume=True, **ASKED)
    except ForeseeError as error:
        said.append(str(error))
        assert store.read_bytes() == before
    else:
        assert [row[:3] for row in essence(resumed.record)] == [row[:3] for row in whole]
    assert all("\n" not in one and len(one) < 1000 for one in said)
    return said


@pytest.mark.parametrize("what", ["no table steps", "settings that are a list", "a score of nobody", "a huge blob"])
def test_damage_is_said_by_everyone(half, tmp_path, what):
    folder = shutil.copytree(half[0], tmp_path / "r")
    damage(folder / "run.sqlite", DAMAGES[what])
    said = try_all(folder, half[1])
    assert len(said) == 4
    assert all("damaged" in one for one in said)


@pytest.mark.parametrize("what", DOUBTFUL)
def test_what_can_be_read_is_read_or_refused(half, tmp_path, what):
    folder = shutil.copytree(half[0], tmp_path / "r")
    damage(folder / "run.sqlite", DOUBTFUL[what])
    try_all(folder, half[1])


def damaged_once(half, folder, seed):
    """One random damage, opened, reported and resumed."""
    rng, done = random.Random(seed), []
    shutil.copytree(half[0], folder)
    damage(folder / "run.sqlite", lambda db: done.append(damage_at_random(db, rng)))
    try:
        try_all(folder, half[1])
    except Exception as error:
        raise AssertionError(f"seed {seed}: {done[0]}: {type(error).__name__}: {error}") from error


@pytest.mark.parametrize("seed", range(20))
def test_damage_of_any_kind(half, tmp_path, seed):
    damaged_once(half, tmp_path / "r", seed)
