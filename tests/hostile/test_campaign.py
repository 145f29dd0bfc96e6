"""The harness of the campaign: what counts as broken, what is kept of it, and that a case is always the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hostile.cases import Attempt, Case, finished
from hostile.failures import ROOT, Failures
from hostile.kind import Kind

from foresee.errors import InputError
from hostile import campaign, kind


@pytest.fixture(autouse=True)
def _folders_of_cases_go_with_the_test(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def holds(rng, folder):
    (folder / "draw.txt").write_text(str(rng.random()))


def breaks(rng, folder):
    (folder / "evidence.txt").write_text("seen")
    raise ValueError(f"broken by {rng.random()} \"\"\" '''")


def hangs(rng, folder):
    subprocess.Popen(["sleep", "300"])
    time.sleep(300)


def crashes(rng, folder):
    os.kill(os.getpid(), signal.SIGKILL)


def eats_memory(rng, folder):
    bytearray(2**30)


def leaves_a_process(rng, folder):
    subprocess.Popen(["setsid", "sleep", "300"])


def outcome(case, number=0, **bounds):
    return finished(Attempt(Case(Kind("made_up", "a promise", case, **bounds), 7, number)))


def test_what_raises_nothing_held():
    assert outcome(holds).held


@pytest.mark.parametrize(
    ("case", "words", "bounds"),
    [
        (breaks, "ValueError: broken by", {}),
        (hangs, "a hang", {"seconds": 0.5}),
        (crashes, "SIGKILL", {}),
        (eats_memory, "MemoryError", {"mebibytes": 512}),
    ],
)
def test_errors_hangs_crashes_and_hunger_are_broken_promises(case, words, bounds):
    found = outcome(case, **bounds)
    assert not found.held
    assert words in found.words


def test_a_process_left_behind_is_a_broken_promise_and_does_not_stay(monkeypatch):
    monkeypatch.setattr("hostile.cases.PATIENCE", 0.3)
    found = outcome(leaves_a_process)
    assert "left behind" in found.words
    assert "sleep 300" in found.words


def test_a_case_depends_on_seed_kind_and_number_only():
    drawn = [(outcome(holds, number).folder / "case" / "draw.txt").read_text() for number in (3, 4, 3)]
    assert drawn[0] == drawn[2] != drawn[1]


def test_a_campaign_counts_and_keeps_what_broke(tmp_path):
    said: list[str] = []
    kinds = [Kind("good", "holds", holds), Kind("bad", "does not", breaks)]
    failures = Failures(tmp_path / "kept")
    tallies = campaign.run(kinds, seconds=60, seed=0, failures=failures, say=said.append, most=3)
    assert [(one.tried, one.broken) for one in tallies] == [(3, 0), (3, 3)]
    assert len(said) == 1  # one mistake is told once, whatever numbers are in its words
    assert sorted(one.name for one in failures.folder.glob("*.py")) == [f"bad-0-{n}.py" for n in range(3)]
    assert len(list(failures.folder.glob("bad-0-*/evidence.txt"))) == 1
    for script in failures.folder.glob("*.py"):
        compile(script.read_text(), script, "exec")  # whatever the case said, the script is one
        assert "ValueError: broken by" in script.read_text()
    lines = campaign.summary(tallies).splitlines()
    assert lines[1].split()[:4] == ["good", "3", "3", "0"]
    assert lines[2].split()[:4] == ["bad", "3", "0", "3"]
    assert lines[3].split()[:4] == ["all", "6", "3", "3"]
    assert "3 x ValueError" in lines[4]


def test_time_is_shared_and_kept(tmp_path):
    def sleeps(rng, folder):
        time.sleep(1.5)  # long beside what it takes to fork a case, also on a busy machine

    kinds = [Kind("slow", "", sleeps), Kind("quick", "", holds)]
    start = time.monotonic()
    slow, quick = campaign.run(kinds, seconds=5, seed=0, failures=Failures(tmp_path), workers=1)
    assert time.monotonic() - start < 20
    assert quick.tried > slow.tried > 0


def test_the_script_repeats_the_case(tmp_path):
    found = outcome(breaks)
    case = Case(kind.load("texts"), 0, 0)
    script = Failures(tmp_path).keep(type(found)(case, 1.0, found.folder, found.words), whole=False)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert "texts-0-0 held" in done.stdout, done.stderr
    assert done.returncode == 0


def test_a_kind_is_one_file(tmp_path, monkeypatch):
    room = tmp_path / "room_of_kinds"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "mine.py").write_text('"""Mine holds.\n\nMore words.\n"""\nSECONDS = 5\n\n\ndef case(rng, folder): ...\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert kind.names("room_of_kinds") == ["mine"]
    found = kind.load("mine", "room_of_kinds")
    assert (found.promise, found.seconds, found.mebibytes) == ("Mine holds.", 5, kind.MEBIBYTES)
    with pytest.raises(InputError, match="did you mean mine"):
        kind.load("mime", "room_of_kinds")


def test_wrong_words_in_the_environment_are_one_line():
    for wrong in ({"HOSTILE_MINUTES": "many"}, {"HOSTILE_KINDS": "kils"}):
        done = subprocess.run(
            [sys.executable, "-m", "hostile"], cwd=ROOT, env={**os.environ, **wrong}, capture_output=True, text=True
        )
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1


def test_every_kind_says_its_promise():
    for path in sorted(Path(kind.__file__).with_name("kinds").glob("[!_]*.py")):
        first = path.read_text().partition('"""')[2].partition("\n")[0]
        assert first.endswith("."), f"{path.name}: the first line of its docstring is its promise"
