"""No file names code: what lies in a folder, or is named by a table, a run or JSON, is not run unless the person says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import foresee as fs
from foresee.benchmarks import load, save
from foresee.benchmarks.table import Table
from foresee.cli.entry import run
from foresee.errors import InputError
from foresee.runs.toml import dumps

#: a module that leaves a mark when it is run; it is a fine space as well
NETS = """
from pathlib import Path
from torch import nn

Path("ran").touch()

def make(pick):
    return nn.Sequential(nn.Flatten(), nn.Linear(12, pick("width", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])))
"""
LOOK = ["--data", "synthetic", "--input", "3x2x2", "--outputs", "4", "--engine", "serial", "--proxy", "params"]
SEARCH = [*LOOK, "--evaluations", "3", "--searcher", "random"]


class Folder:
    """A folder with files of all kinds that name `nets.py:make`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ran(self) -> bool:
        """Whether the code was run since the last time this was asked."""
        mark = self.path / "ran"
        found = mark.exists()
        mark.unlink(missing_ok=True)
        sys.modules.pop("nets", None)
        for name in [name for name in sys.modules if name.startswith("foresee_file_")]:
            del sys.modules[name]
        return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    (tmp_path / "nets.py").write_text(NETS)
    rows = [f'"{{""width"":{width}}}",acc,{width},nets.py:make' for width in range(2, 14)]
    (tmp_path / "t.csv").write_text("\n".join(["architecture,metric,value,space", *rows]) + "\n")
    made = Folder(tmp_path)
    yield made
    made.ran()


@pytest.fixture
def foresee(folder, monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["foresee", *arguments])
        capfd.readouterr()
        returned = run()
        printed = capfd.readouterr()
        assert returned == code, printed
        return " ".join((printed.out + printed.err).split())

    return call


def table_of_ours(folder: Folder) -> Path:
    """The same table in our own form, its digest right: anyone can write one."""
    plain: Table = load(folder.path / "t.csv", space="nets.py:make")
    save(plain, folder.path / "t.npz")
    folder.ran()
    return folder.path / "t.npz"


@pytest.mark.parametrize("file", ["t.csv", "t.npz"])
@pytest.mark.parametrize(
    "command",
    [
        ["table", "info", "FILE"],
        ["table", "convert", "FILE", "out.npz"],
        ["bench", "--table", "FILE", "--target", "acc", *LOOK, "--bootstrap", "0"],
        ["calibrate", "--table", "FILE", "--target", "acc", *LOOK, "--trained", "11", "--untrained", "params"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_table_that_names_code_is_refused_until_the_person_names_it(folder, foresee, command, file):
    table_of_ours(folder)
    words = [file if word == "FILE" else word for word in command]
    said = foresee(*words, code=2)
    assert not folder.ran()
    assert "nets.py:make is code" in said
    assert "--space nets.py:make" in said
    foresee(*words, "--space", "nets.py:make")
    assert folder.ran()


def test_a_table_in_python(folder):
    with pytest.raises(InputError, match="no code is run because a file names it"):
        fs.benchmarks.bench("t.csv", "acc", "params", data="synthetic")
    assert not folder.ran()
    space = fs.spaces.get("nets.py:make")
    look = {"data": "synthetic", "inputs": (3, 2, 2), "outputs": 4, "bootstrap": 0}
    for said in (space, "nets.py:make"):
        assert len(fs.benchmarks.bench("t.csv", "acc", "params", space=said, **look).texts) == 12
    assert load("t.csv", space="nets:make").space == "nets:make"  # the same code under the person's own name
    with pytest.raises(InputError, match="not of nasbench201"):
        load("t.csv", space="nasbench201")


def test_a_candidate_in_a_file(folder):
    space = fs.spaces.get("nets.py:make")
    candidate = fs.Candidate(space, space.parse('{"width":4}'), fs.Task((3, 2, 2), 4))
    (folder.path / "best.json").write_text(json.dumps(candidate.to_json()))
    assert folder.ran()
    for ask in (fs.build, fs.Candidate.load, lambda path: fs.build(json.loads(path.read_text()))):
        with pytest.raises(InputError, match=r"is code, .* say so: space=.nets.py:make., or the function itself"):
            ask(folder.path / "best.json")
    assert not folder.ran()
    for said in ("nets.py:make", "nets:make", space, space.make_net):
        assert fs.build(folder.path, space=said)[1].out_features == 4
        assert fs.Candidate.load(folder.path / "best.json", space=said).architecture == candidate.architecture


def test_a_run(folder, foresee):
    search = ["search", "nets.py:make", *SEARCH, "--out", "r"]
    foresee(*search)
    assert folder.ran()
    run = fs.Run.open("r")
    with pytest.raises(InputError, match=r'say so: fs.Run.open\(folder, space="nets.py:make"\)'):
        run.best  # noqa: B018
    assert len(run.record.scored) == 3
    foresee("report", "r")
    foresee("report", "r/run.sqlite", "-o", "again.html")
    assert not folder.ran()
    page = (folder.path / "again.html").read_text()
    assert "space=&#34;nets.py:make&#34;" in page
    again = fs.Run.open("r", space="nets.py:make")
    assert again.best.build()[1].out_features == fs.build("r", space="nets.py:make")[1].out_features
    foresee(*search, "--resume")


def test_settings_that_name_code_want_the_person_to_name_it(folder, foresee):
    (folder.path / "s.toml").write_text(dumps({"space": "nets.py:make", "proxies": ["params"], "evaluations": 3}))
    look = ["--data", "synthetic", "--input", "3x2x2", "--outputs", "4", "--engine", "serial", "--out", "r"]
    said = foresee("search", "--settings", "s.toml", *look, code=2)
    assert "say so: foresee search nets.py:make --settings s.toml" in said
    assert not folder.ran()
    foresee("search", "nets.py:make", "--settings", "s.toml", *look)
    assert folder.ran()


def test_a_table_made_in_python_is_the_persons(folder):
    made = replace(load("t.csv", space="nets.py:make"), space="nets:make")
    assert made.checked().space == "nets:make"


# -- what lies in the folder ----------------------------------------------------------------------------------------------
#: names of libraries and of Python itself, any of which a file in the folder could take
POISON = (
    "PIL",
    "numpy",
    "torch",
    "scipy",
    "sklearn",
    "rich",
    "typer",
    "jinja2",
    "matplotlib",
    "nasbench301",
    "xgboost",
)
STANDARD = ("json", "random", "pickle", "socket", "tempfile", "signal", "sqlite3", "multiprocessing", "tomllib", "csv")


@pytest.fixture
def poisoned(tmp_path):
    """A folder in which every module leaves a mark when it is imported; and the command, started as a script elsewhere."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    for name in (*POISON, *STANDARD):
        (here / f"{name}.py").write_text(f"open('ran-{name}', 'w')\n")
    (elsewhere / "foresee").write_text("from foresee.cli import main\nif __name__ == '__main__':\n    main()\n")
    source = str(Path(fs.__file__).parents[1])

    def call(*arguments: str, module: bool = False) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        start = ["-m", "foresee"] if module else [str(elsewhere / "foresee")]
        done = subprocess.run(
            [sys.executable, *start, *arguments],
            cwd=here,
            env={**os.environ, "PYTHONPATH": source, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, sorted(path.name for path in here.glob("ran-*"))

    call.here = here
    return call


def test_no_command_imports_what_lies_in_the_current_folder(poisoned):
    import numpy as np
    from PIL import Image

    for kind in ("a", "b"):
        (poisoned.here / "images" / kind).mkdir(parents=True)
        for number in range(2):
            Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(poisoned.here / "images" / kind / f"{number}.png")
    look = ["--data", "images", "--proxy", "params", "--evaluations", "2", "--engine", "processes", "--workers", "1"]
    done, ran = poisoned("search", "nasbench201", *look, "--out", "r")
    assert (done.returncode, ran) == (0, []), done.stderr
    done, ran = poisoned("doctor")
    assert (done.returncode, ran) == (0, []), done.stderr


def test_code_the_person_named_comes_after_all_that_is_installed(poisoned):
    for name in STANDARD:  # before our first line Python itself looks for its own library in the folder of `python -m`
        (poisoned.here / f"{name}.py").unlink()
    (poisoned.here / "my_nets.py").write_text("from my_parts import make\nimport PIL, numpy, torch\n")
    (poisoned.here / "my_parts.py").write_text(NETS)
    words = ["score", "my_nets:make", '{"width":4}', "--input", "3x2x2", "--proxy", "params", "--json"]
    for module in (False, True):
        done, ran = poisoned(*words, module=module)
        assert (done.returncode, ran) == (0, []), done.stderr
        assert json.loads(done.stdout)["params"] == 52
    done, ran = poisoned("score", "my_nets.py:make", *words[2:])
    assert (done.returncode, ran) == (0, []), done.stderr
